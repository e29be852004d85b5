"""Sentences of suggestions."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ciguard.levels.app.repair.labels import Extension
from ciguard.levels.app.repair.measures import BranchCounts, Change
from ciguard.levels.app.repair.suggestions import (
    Suggestion,
    suggest_labels,
    suggest_threshold,
)
from ciguard.levels.app.repair.thresholds import DecisionLine, ShareChange, Shares, Threshold

EXTENSION = Extension(("flame", "ash"), BranchCounts(20, 8, 8), BranchCounts(20, 17, 17))


def test_suggested_labels_come_with_their_recall_and_precision() -> None:
    assert suggest_labels(EXTENSION, 3, "--- a") == Suggestion(
        'If line 3 also checked "flame" and "ash", the recall on the 20 inputs made for this '
        "condition would be 85 % instead of 40 %, and the precision 100 %.",
        "--- a",
    )


def test_suggestion_reports_a_changed_precision() -> None:
    extension = replace(EXTENSION, before=BranchCounts(20, 10, 8), after=BranchCounts(20, 20, 15))

    assert suggest_labels(extension, 3, None).sentence.endswith(
        "and the precision 75 % instead of 80 %."
    )


def test_suggestion_reports_the_held_out_inputs() -> None:
    held_out = Change(BranchCounts(6, 0, 0), BranchCounts(6, 6, 5))
    extension = replace(EXTENSION, before=BranchCounts(20, 0, 0), held_out=held_out)

    sentence = suggest_labels(extension, 3, None).sentence

    assert sentence == (
        'If line 3 also checked "flame" and "ash", the recall on the 20 inputs made for this '
        "condition would be 85 % instead of 0 %, and the precision 100 %. On the 6 inputs that "
        "were not used to choose the labels, the recall would be 83 % instead of 0 %, and the "
        "precision 83 %."
    )


@pytest.mark.parametrize(
    ("correct", "shown"), [(0, "0 %"), (1, "1 %"), (500, "50 %"), (999, "99 %"), (1000, "100 %")]
)
def test_shares_round_to_0_and_100_percent_only_if_exact(correct: int, shown: str) -> None:
    extension = replace(EXTENSION, after=BranchCounts(1000, correct, correct))

    assert f"would be {shown} instead of" in suggest_labels(extension, 3, None).sentence


def test_labels_of_a_service_cannot_forge_lines() -> None:
    extension = replace(EXTENSION, added=("a\nb\x1b[31m\u202e", "b" * 1000))

    sentence = suggest_labels(extension, 3, None).sentence

    assert sentence.isprintable()
    assert len(sentence) < 500


def test_suggested_threshold_reports_both_sentiments() -> None:
    held_out = ShareChange(Shares(1, 0.5), Shares(0.75, 0.25))
    threshold = Threshold(DecisionLine(1, 0.5, -0.2), Shares(1, 0.6), Shares(0.9, 0.1), held_out)

    assert suggest_threshold(threshold, 7, None, names=("score", "magnitude")) == Suggestion(
        "If line 7 checked score + 0.5 * magnitude - 0.2 > 0, 90 % of positive and 10 % of "
        "negative texts would take the branch instead of 100 % and 60 %. Of the texts that were "
        "not used to fit the threshold, 75 % of positive and 25 % of negative texts would "
        "take the branch instead of 100 % and 50 %."
    )
