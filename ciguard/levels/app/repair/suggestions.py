"""What a person may change, in words and as a patch (Keeper, section 4.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.domain.text import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ciguard.levels.app.repair.labels import Extension
    from ciguard.levels.app.repair.measures import BranchCounts, Change
    from ciguard.levels.app.repair.thresholds import Shares, Threshold

LABEL_LIMIT = 80
"""Letters that are shown of a label or a sub-condition."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """One change that would make a branch better."""

    sentence: str
    """On one line, all that comes from services made visible."""
    patch: str = ""
    """For `git apply` in the application's root; empty where the change is left to a person."""


def more_labels(extension: Extension, line: int, patch: str | None) -> Suggestion:
    """Suggest labels to compare with as well.

    Args:
        extension: the labels, and what they bring about.
        line: of the sub-condition.
        patch: that adds them, if there is one.
    """
    before, after = extension.before, extension.after
    sentence = (
        f"If line {line} also checked {listed(extension.added, 'and')}, {_recall(after)} of the "
        f"{before.expected} inputs made for it would take the branch instead of {_recall(before)}, "
        f"and {_precision(after)} of the {after.took} that take it would be meant to"
    )
    if before.took and _precision(before) != _precision(after):
        sentence += f" instead of {_precision(before)}"
    held = f" {_unseen(extension.held_out)}" if extension.held_out else ""
    return Suggestion(f"{sentence}.{held}", patch or "")


def _unseen(change: Change) -> str:
    before, after = change
    sentence = (
        f"Of the {before.expected} among them that this was not fitted to, {_recall(after)} would "
        f"take it instead of {_recall(before)}"
    )
    if not after.took:
        return f"{sentence}."
    return f"{sentence}; {_precision(after)} of all such inputs that take it would be meant to."


def other_threshold(
    threshold: Threshold, line: int, patch: str | None, *, names: tuple[str, str]
) -> Suggestion:
    """Suggest another threshold of a sentiment.

    Args:
        threshold: the threshold, and what it brings about.
        line: of the sub-condition.
        patch: that writes it, if there is one.
        names: of score and magnitude, as a person would call them.
    """
    sentence = (
        f"If line {line} checked {visible(threshold.line.condition(*names))}, "
        f"{_feelings(threshold.before, threshold.after)}."
    )
    if threshold.held_out:
        unseen = _feelings(*threshold.held_out)
        sentence += f" Of the texts that this was not fitted to, {unseen}."
    return Suggestion(sentence, patch or "")


def _feelings(before: Shares, after: Shares) -> str:
    return (
        f"{_share(after.positive)} of positive and {_share(after.negative)} of negative texts "
        f"would take the branch instead of {_share(before.positive)} and {_share(before.negative)}"
    )


def listed(labels: Sequence[str], word: str) -> str:
    """Return labels in words, the last one after `and` or `or`."""
    *others, last = map(quoted, labels)
    return f"{', '.join(others)} {word} {last}" if others else last


def quoted(label: str) -> str:
    """Return a label of a service or a file, made visible, in quotation marks."""
    return f'"{visible(label, limit=LABEL_LIMIT)}"'


def _recall(found: BranchCounts) -> str:
    return _share(found.recall)


def _precision(found: BranchCounts) -> str:
    return _share(found.precision)


def _share(share: float) -> str:
    """Return a share in percent: 0 of none and 100 of all only."""
    rounded = round(100 * share)
    if 0 < share < 1:
        rounded = min(max(rounded, 1), 99)
    return f"{rounded} %"
