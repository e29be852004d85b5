"""Suggested changes, each as a sentence and a patch (Keeper paper, section 4.2)."""

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
"""Maximum length of a label or sub-condition in a sentence, in characters."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A change that improves a branch."""

    sentence: str
    """Description of the change on one line; unprintable characters are escaped."""
    patch: str = ""
    """Patch for `git apply` in the application's root; empty if the user must edit by hand."""


def suggest_labels(extension: Extension, line: int, patch: str | None) -> Suggestion:
    """Suggest labels to add to a sub-condition.

    Args:
        extension: the labels with their measures.
        line: the line of the sub-condition.
        patch: the patch that adds the labels; None if ciguard cannot write one.
    """
    before, after = extension.before, extension.after
    sentence = (
        f"If line {line} also checked {enumeration(extension.added, 'and')}, the recall on the "
        f"{before.expected} inputs made for this condition would be {_recall(after)} instead of "
        f"{_recall(before)}, and the precision {_precision(after)}"
    )
    if before.taken and _precision(before) != _precision(after):
        sentence += f" instead of {_precision(before)}"
    held_out = f" {_held_out_sentence(extension.held_out)}" if extension.held_out else ""
    return Suggestion(f"{sentence}.{held_out}", patch or "")


def _held_out_sentence(change: Change) -> str:
    before, after = change
    sentence = (
        f"On the {before.expected} inputs that were not used to choose the labels, the recall "
        f"would be {_recall(after)} instead of {_recall(before)}"
    )
    if not after.taken:
        return f"{sentence}."
    return f"{sentence}, and the precision {_precision(after)}."


def suggest_threshold(
    threshold: Threshold, line: int, patch: str | None, *, names: tuple[str, str]
) -> Suggestion:
    """Suggest another threshold for a sentiment.

    Args:
        threshold: the threshold with its measures.
        line: the line of the sub-condition.
        patch: the patch that changes the threshold; None if ciguard cannot write one.
        names: the names of score and magnitude for the sentence.
    """
    sentence = (
        f"If line {line} checked {visible(threshold.line.condition(*names))}, "
        f"{_sentiment_shares(threshold.before, threshold.after)}."
    )
    if threshold.held_out:
        held_out = _sentiment_shares(*threshold.held_out)
        sentence += f" Of the texts that were not used to fit the threshold, {held_out}."
    return Suggestion(sentence, patch or "")


def _sentiment_shares(before: Shares, after: Shares) -> str:
    return (
        f"{_share(after.positive)} of positive and {_share(after.negative)} of negative texts "
        f"would take the branch instead of {_share(before.positive)} and {_share(before.negative)}"
    )


def enumeration(labels: Sequence[str], word: str) -> str:
    """Return labels as an enumeration, such as `"a", "b" and "c"`."""
    *others, last = map(quoted, labels)
    return f"{', '.join(others)} {word} {last}" if others else last


def quoted(label: str) -> str:
    """Return a label in quotation marks; unprintable characters are escaped."""
    return f'"{visible(label, limit=LABEL_LIMIT)}"'


def _recall(counts: BranchCounts) -> str:
    return _share(counts.recall)


def _precision(counts: BranchCounts) -> str:
    return _share(counts.precision)


def _share(share: float) -> str:
    """Return a share in percent; only exactly 0 and 1 become 0 % and 100 %."""
    rounded = round(100 * share)
    if 0 < share < 1:
        rounded = min(max(rounded, 1), 99)
    return f"{rounded} %"
