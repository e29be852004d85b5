"""Kinds of settings of a run: baselines, trackers, severities, policies, shards."""

from __future__ import annotations

import re
from typing import Any

from ciguard.config.kinds.contract import SettingKind, closest
from ciguard.config.kinds.plain import CONTROL, split_list
from ciguard.config.locations import location_text, parse_location
from ciguard.domain.findings import Severity
from ciguard.domain.policy import Action, FindingClass, PolicyRule
from ciguard.domain.shards import MAX_SHARDS, parse_shard

_MAX_LABEL = 50
"""Characters; GitHub takes no more."""


def label() -> SettingKind:
    """Return the kind of labels of issues, as trackers take them."""
    return SettingKind(
        metavar="LABEL",
        remedy="a label of at most 50 characters without a comma",
        parse=_label,
        toml_types=(str,),
        show=str,
    )


def location() -> SettingKind:
    """Return the kind of places of a baseline."""
    return SettingKind(
        metavar="PLACE",
        remedy="the path of a folder, or git+REMOTE#BRANCH",
        parse=parse_location,
        toml_types=(str,),
        show=location_text,
    )


def place() -> SettingKind:
    """Return the kind of trackers: a name, a colon and what the tracker takes for a location."""
    return SettingKind(
        metavar="TRACKER",
        remedy="a tracker such as github:owner/name",
        parse=_tracker,
        toml_types=(str,),
    )


def disclosure() -> SettingKind:
    """Return the kind of places for what must not be published."""
    return SettingKind(
        metavar="HOW",
        remedy="withhold, public, advisory, or a private repository such as github:owner/name",
        parse=_disclosure,
        toml_types=(str,),
        show=str,
    )


def shard() -> SettingKind:
    """Return the kind of shards: which of how many."""
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
    """Return the kind of policies: a table in files, `SELECTOR=ACTION` elsewhere."""
    return SettingKind(
        metavar="RULE",
        remedy=f'a table such as [policy] with lines such as performance = "fail": left one of '
        f"{', '.join(FindingClass)}, or a glob such as 'metamorphic/*' or 'torch.nn.*'; "
        f"right one of {', '.join(action.label for action in Action)}",
        parse=split_list,
        toml_types=(dict,),
        check=_rules,
        show=lambda rules: ", ".join(map(str, rules)),
        is_list=True,
    )


def _label(text: str) -> str:
    written = text.strip()
    # A listing of issues separates labels with commas.
    if not 0 < len(written) <= _MAX_LABEL or "," in written or CONTROL.search(written):
        msg = "not a label"
        raise ValueError(msg)
    return written


def _tracker(text: str) -> str:
    written = text.strip()
    if written and not re.fullmatch(r"[a-z][a-z0-9_-]*:[!-~]+", written):
        msg = "not a tracker"
        raise ValueError(msg)
    return written


def _disclosure(text: str) -> str:
    written = text.strip()
    if written in {"withhold", "public", "advisory"} or written.startswith("github:"):
        return _tracker(written) if ":" in written else written
    msg = "not a way to disclose a vulnerability"
    raise ValueError(msg)


def _severity(text: str) -> Severity:
    by_label = {item.label: item for item in Severity}
    if text.strip().lower() not in by_label:
        msg = f"not a severity{closest(text.lower(), by_label)}"
        raise ValueError(msg)
    return by_label[text.strip().lower()]


def _rules(given: Any) -> tuple[PolicyRule, ...]:
    if not isinstance(given, dict):
        parted = [text.partition("=") for text in given]
        for text, (_, sign, _) in zip(given, parted, strict=True):
            if not sign:
                msg = f"{text!r} is not SELECTOR=ACTION"
                raise ValueError(msg)
        given = {selector.strip(): action.strip() for selector, _, action in parted}
    return tuple(_rule(selector, action) for selector, action in given.items())


def _rule(selector: str, wanted: object) -> PolicyRule:
    if not {"/", "."}.intersection(selector) and selector not in set(FindingClass):
        msg = f"{selector!r} is no class of findings{closest(selector, FindingClass)}"
        raise ValueError(msg)
    by_label = {action.label: action for action in Action}
    if not isinstance(wanted, str) or wanted not in by_label:
        near = closest(wanted, by_label) if isinstance(wanted, str) else ""
        msg = f"{selector} = {wanted!r}: no such action{near}"
        raise ValueError(msg)
    action = by_label[wanted]
    if selector == FindingClass.DOCUMENTATION and action > Action.REPORT:
        msg = f"{selector} = {wanted!r}: what documentation says is only ever reported"
        raise ValueError(msg)
    return PolicyRule(selector, action)
