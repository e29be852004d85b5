"""Kinds of settings: parsing of values from text and TOML, validation, and formatting."""

from ciguard.config.kinds.contract import SettingKind
from ciguard.config.kinds.own import disclosure, label, location, place, policy, severity, shard
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
    "place",
    "policy",
    "severity",
    "shard",
    "size",
    "switch",
    "texts",
    "whole",
]
