"""Kinds of settings, which parse values from text and TOML, validate them and format them."""

from ciguard.config.kinds.contract import SettingKind
from ciguard.config.kinds.own import (
    disclosure,
    label,
    location,
    policy,
    severity,
    shard,
    tracker_location,
)
from ciguard.config.kinds.plain import (
    choice,
    duration,
    file,
    folder,
    name,
    path_or_nothing,
    size,
    switch,
    texts,
    whole,
)

__all__ = [
    "SettingKind",
    "choice",
    "disclosure",
    "duration",
    "file",
    "folder",
    "label",
    "location",
    "name",
    "path_or_nothing",
    "policy",
    "severity",
    "shard",
    "size",
    "switch",
    "texts",
    "tracker_location",
    "whole",
]
