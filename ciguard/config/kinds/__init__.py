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
    boolean,
    choice,
    duration,
    file,
    folder,
    name,
    optional_file,
    size,
    string_list,
    whole,
)

__all__ = [
    "SettingKind",
    "boolean",
    "choice",
    "disclosure",
    "duration",
    "file",
    "folder",
    "label",
    "location",
    "name",
    "optional_file",
    "policy",
    "severity",
    "shard",
    "size",
    "string_list",
    "tracker_location",
    "whole",
]
