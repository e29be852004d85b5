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

_LABEL_LIMIT = 80


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
        f"If line {line} also checked {_listed(extension.added, 'and')}, {_recall(after)} of the "
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


def other_label(label: str, nearest: Sequence[str], line: int, patch: str | None) -> Suggestion:
    """Suggest a label that exists for one that no service knows.

    Args:
        label: that line `line` compares with.
        nearest: labels that may be meant, the likeliest first; at least one.
        line: of the sub-condition.
        patch: that writes the first of them, if there is one.
    """
    sentence = (
        f"Line {line} checks {_quoted(label)}, which is no label of the service, as it is read "
        f"there; it has {_listed(nearest, 'or')}."
    )
    return Suggestion(sentence, patch or "")


def a_comparison(text: str, line: int, patch: str | None) -> Suggestion:
    """Suggest to compare with a text that is always true as it stands (Keeper, section 4.1.2).

    Args:
        text: of the sub-condition.
        line: of the branch.
        patch: that makes it a comparison, if there is one.
    """
    sentence = (
        f"In line {line} the sub-condition {visible(text, limit=_LABEL_LIMIT)} is compared with "
        "nothing and therefore always the same; it may be meant as a comparison like the others."
    )
    return Suggestion(sentence, patch or "")


def other_letters(label: str, meant: str, line: int, patch: str | None) -> Suggestion:
    """Suggest the same text in letters that what it is compared with can have.

    Args:
        label: that line `line` compares with.
        meant: the same in other letters.
        line: of the sub-condition.
        patch: that writes it, if there is one.
    """
    sentence = (
        f"Line {line} compares with {_quoted(label)} what never has such letters; "
        f"{_quoted(meant)} is meant."
    )
    return Suggestion(sentence, patch or "")


def other_scale(number: str, meant: str, line: int, patch: str | None) -> Suggestion:
    """Suggest a share for a percentage.

    Args:
        number: that line `line` compares a score with.
        meant: the same as a share.
        line: of the sub-condition.
        patch: that writes it, if there is one.
    """
    sentence = f"Line {line} compares a score with {number}, which none is near; {meant} is meant."
    return Suggestion(sentence, patch or "")


def a_member(text: str, line: int, patch: str | None) -> Suggestion:
    """Suggest to compare with the name of a member of an enumeration, not with itself.

    Args:
        text: of the sub-condition.
        line: of it.
        patch: that asks for the name, if there is one.
    """
    sentence = (
        f"Line {line} compares a text with a member of an enumeration, which is none: "
        f"{visible(text, limit=_LABEL_LIMIT)}. Its name is meant."
    )
    return Suggestion(sentence, patch or "")


def _listed(labels: Sequence[str], word: str) -> str:
    *others, last = map(_quoted, labels)
    return f"{', '.join(others)} {word} {last}" if others else last


def _quoted(label: str) -> str:
    return f'"{visible(label, limit=_LABEL_LIMIT)}"'


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
