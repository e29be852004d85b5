"""Kinds of settings specific to ciguard: baselines, trackers, severities, policies, shards."""

from __future__ import annotations

import re
from typing import Any

from ciguard.config.kinds.contract import SettingKind, closest
from ciguard.config.kinds.plain import CONTROL_CHARACTER, split_list
from ciguard.config.locations import location_text, parse_location
from ciguard.domain.findings import Severity
from ciguard.domain.policy import Action, FindingClass, PolicyRule
from ciguard.domain.shards import MAX_SHARDS, parse_shard

_MAX_LABEL_LENGTH = 50
"""Maximum number of characters that GitHub accepts in a label."""


def label() -> SettingKind:
    """Return the kind of labels of issues."""
    return SettingKind(
        metavar="LABEL",
        remedy="a label of at most 50 characters without a comma",
        parse=_label,
        toml_types=(str,),
        show=str,
    )


def location() -> SettingKind:
    """Return the kind of locations of a baseline."""
    return SettingKind(
        metavar="PLACE",
        remedy="the path of a folder, or git+REMOTE#BRANCH",
        parse=parse_location,
        toml_types=(str,),
        show=location_text,
    )


def tracker_location() -> SettingKind:
    """Return the kind of trackers, written as `NAME:LOCATION`."""
    return SettingKind(
        metavar="TRACKER",
        remedy="a tracker such as github:owner/name",
        parse=_tracker,
        toml_types=(str,),
    )


def disclosure() -> SettingKind:
    """Return the kind of destinations for security-relevant crashes."""
    return SettingKind(
        metavar="HOW",
        remedy="withhold, public, advisory, or a private repository such as github:owner/name",
        parse=_disclosure,
        toml_types=(str,),
        show=str,
    )


def shard() -> SettingKind:
    """Return the kind of shards: `I/N`."""
    return SettingKind(
        metavar="I/N",
        remedy=f"I/N with 1 <= I <= N <= {MAX_SHARDS}, such as 2/8",
        parse=parse_shard,
        toml_types=(str,),
    )


def severity() -> SettingKind:
    """Return the kind of severities, by name."""
    return SettingKind(
        metavar="SEVERITY",
        remedy=f"one of {', '.join(item.label for item in Severity)}",
        parse=_severity,
        toml_types=(str,),
        show=lambda value: value.label,
    )


def policy() -> SettingKind:
    """Return the kind of policies: a table in files, `SELECTOR=ACTION` in flags and variables."""
    return SettingKind(
        metavar="RULE",
        remedy=f'a table [policy] with lines such as performance = "fail". Selectors are '
        f"{', '.join(FindingClass)}, or globs such as 'metamorphic/*' or 'torch.nn.*'. "
        f"Actions are {', '.join(action.label for action in Action)}",
        parse=split_list,
        toml_types=(dict,),
        check=_rules,
        show=lambda rules: ", ".join(map(str, rules)),
        is_list=True,
    )


def _label(text: str) -> str:
    label = text.strip()
    # GitHub's API for listing issues separates labels with commas.
    if not 0 < len(label) <= _MAX_LABEL_LENGTH or "," in label or CONTROL_CHARACTER.search(label):
        msg = "not a label"
        raise ValueError(msg)
    return label


def _tracker(text: str) -> str:
    tracker = text.strip()
    if tracker and not re.fullmatch(r"[a-z][a-z0-9_-]*:[!-~]+", tracker):
        msg = "not a tracker"
        raise ValueError(msg)
    return tracker


def _disclosure(text: str) -> str:
    destination = text.strip()
    if destination in {"withhold", "public", "advisory"} or destination.startswith("github:"):
        return _tracker(destination) if ":" in destination else destination
    msg = "not a destination of security-relevant crashes"
    raise ValueError(msg)


def _severity(text: str) -> Severity:
    by_label = {item.label: item for item in Severity}
    if text.strip().lower() not in by_label:
        msg = f"not a severity{closest(text.lower(), by_label)}"
        raise ValueError(msg)
    return by_label[text.strip().lower()]


def _rules(value: Any) -> tuple[PolicyRule, ...]:
    if not isinstance(value, dict):
        parts = [text.partition("=") for text in value]
        for text, (_, sign, _) in zip(value, parts, strict=True):
            if not sign:
                msg = f"{text!r} is not SELECTOR=ACTION"
                raise ValueError(msg)
        value = {selector.strip(): action.strip() for selector, _, action in parts}
    return tuple(_rule(selector, action) for selector, action in value.items())


def _rule(selector: str, label: object) -> PolicyRule:
    if not {"/", "."}.intersection(selector) and selector not in set(FindingClass):
        msg = f"{selector!r} is neither a class of findings nor a glob"
        msg += closest(selector, FindingClass)
        raise ValueError(msg)
    by_label = {action.label: action for action in Action}
    if not isinstance(label, str) or label not in by_label:
        hint = closest(label, by_label) if isinstance(label, str) else ""
        msg = f"{selector} = {label!r}: no such action{hint}"
        raise ValueError(msg)
    action = by_label[label]
    if selector == FindingClass.DOCUMENTATION and action > Action.REPORT:
        msg = f"{selector} = {label!r}: documentation findings allow only `report` and `off`"
        raise ValueError(msg)
    return PolicyRule(selector, action)
