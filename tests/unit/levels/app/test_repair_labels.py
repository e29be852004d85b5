"""Measures of branches, and added labels, compared with a naive search."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciguard.levels.app.repair.labels import (
    Extension,
    Observation,
    contains_label,
    equals_label,
    extend_labels,
    lower_case_match,
)
from ciguard.levels.app.repair.measures import (
    ALPHA,
    MIN_INPUTS_TO_HOLD_OUT,
    BranchCounts,
    count_inputs,
    held_out_indices,
    is_below,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ciguard.levels.app.repair.labels import Matches

NAMES = ("Fire", "Flame", "Ash", "Amber", "Smoke", "Campfire")


class Related:
    """All but one label."""

    def related(self, one: str, other: str) -> bool:
        return "Amber" not in {one, other}


RELATED = Related()
observations = st.lists(
    st.builds(Observation, st.lists(st.sampled_from(NAMES), max_size=4).map(tuple), st.booleans()),
    max_size=40,
)
ways = st.sampled_from(
    [equals_label, contains_label, lower_case_match(equals_label), lower_case_match(contains_label)]
)
alphas = st.sampled_from([0.3, 0.75, 1.0])


def fires(*recognised: str, is_expected: bool = True) -> Observation:
    return Observation(recognised, is_expected)


@pytest.mark.parametrize(
    ("exercised", "recall", "precision", "f1"),
    [
        ([], 1.0, 1.0, 1.0),
        ([(True, False)], 0.0, 1.0, 0.0),
        ([(False, True)], 1.0, 0.0, 0.0),
        ([(False, False)], 1.0, 1.0, 1.0),
        ([(True, True), (True, False), (False, False)], 0.5, 1.0, 2 / 3),
        ([(True, True)] * 3 + [(True, False), (False, True)], 0.75, 0.75, 0.75),
    ],
)
def test_recall_precision_and_f1_agree_with_the_paper(
    exercised: list[tuple[bool, bool]], recall: float, precision: float, f1: float
) -> None:
    counts = count_inputs(exercised)

    assert (counts.recall, counts.precision, counts.f1) == (recall, precision, f1)


@given(st.lists(st.tuples(st.booleans(), st.booleans())))
def test_f1_is_the_harmonic_mean_of_recall_and_precision(
    exercised: list[tuple[bool, bool]],
) -> None:
    counts = count_inputs(exercised)

    if counts.correct:
        recall = Fraction(counts.correct, counts.expected)
        precision = Fraction(counts.correct, counts.taken)
        assert counts.f1 == float(2 * recall * precision / (recall + precision))
    else:
        assert counts.f1 == float(not counts.expected and not counts.taken)


@given(st.lists(st.booleans(), max_size=90))
def test_a_third_of_each_kind_is_held_out_of_enough_inputs(kinds: list[bool]) -> None:
    places = held_out_indices(kinds)

    is_enough = (
        len(kinds) >= MIN_INPUTS_TO_HOLD_OUT and min(kinds.count(True), kinds.count(False)) >= 3
    )
    for kind in (True, False):
        held = [at for at in places if kinds[at] is kind]
        assert len(held) == (kinds.count(kind) // 3 if is_enough else 0)


def test_extend_labels_adds_labels_until_the_recall_suffices_as_in_the_paper() -> None:
    observations = [
        *[fires("Fire")] * 8, *[fires("Flame", "Amber")] * 6, *[fires("Ash")] * 3,
        *[fires("Amber")] * 3, *[fires("Dog", is_expected=False)] * 20,
    ]  # fmt: skip

    extension = extend_labels(["Fire"], observations, equals_label, related=RELATED)

    assert extension is not None
    assert extension.added == ("Flame", "Ash")
    assert (extension.before.recall, extension.after.recall) == (0.4, 0.85)
    assert extension.after.precision == 1.0
    assert extension.held_out is not None
    assert extension.held_out.before.expected == 20 // 3
    assert extension.held_out.after.recall > extension.held_out.before.recall


def test_extend_labels_skips_a_label_that_lowers_f1() -> None:
    observations = [
        fires("Fire"), fires("Flame"), *[fires("Flame", is_expected=False)] * 4,
    ]  # fmt: skip

    assert extend_labels(["Fire"], observations, equals_label, related=RELATED) is None


def test_extend_labels_prefers_a_small_gain_without_loss_to_a_large_gain_with_loss() -> None:
    observations = [
        *[fires("Fire")] * 4, *[fires("Flame")] * 3, fires("Ash"),
        *[fires("Flame", is_expected=False)] * 9,
    ]  # fmt: skip

    extension = extend_labels(["Fire"], observations, equals_label, related=RELATED)

    assert extension is not None
    assert extension.added == ("Ash",)


def test_candidates_come_from_inputs_that_miss_the_branch() -> None:
    observations = [fires("Fire", "Ash"), fires("Wood Ash"), fires("Tree Ash")]
    observations.append(fires("Ash", is_expected=False))

    extension = extend_labels(["Fire"], observations, contains_label, related=RELATED, alpha=1)

    assert extension is not None
    assert extension.added == ("Tree Ash", "Wood Ash")


def test_labels_that_do_not_generalise_to_held_out_inputs_are_not_suggested() -> None:
    seen, unseen = fires("Fire", "x"), fires("Dog", "Flame", is_expected=False)
    observations = [
        one
        for at in range(18)
        for one in (
            seen if at % 3 == 2 else fires("Flame"),
            unseen if at % 3 == 2 else fires("Dog", is_expected=False),
        )
    ]

    assert extend_labels(["Fire"], observations[:18], equals_label, related=RELATED) is not None
    assert extend_labels(["Fire"], observations, equals_label, related=RELATED) is None


@pytest.mark.parametrize(
    ("matches", "label", "added"),
    [
        (equals_label, "Fire", "Camp Flame"),
        (lower_case_match(equals_label), "fire", "camp flame"),
        (contains_label, "Fire", "Camp Flame"),
        (lambda labels, recognised: equals_label(labels, tuple(map(str.upper, recognised))), "FIRE",
         "CAMP FLAME"),
    ],
)  # fmt: skip
def test_labels_are_added_in_the_spelling_that_the_application_matches(
    matches: Matches, label: str, added: str
) -> None:
    observations = [fires("Fire"), fires("Camp Flame"), fires("Fire"), fires("Camp Flame")]

    extension = extend_labels([label], observations, matches, related=RELATED)

    assert extension is not None
    assert extension.before.recall == 0.5
    assert extension.added == (added,)


@given(observations, ways, alphas)
def test_extension_has_the_measures_that_it_claims(
    inputs: list[Observation], matches: Matches, alpha: float
) -> None:
    labels = ("Fire", "fire")
    extension = extend_labels(labels, inputs, matches, related=RELATED, alpha=alpha)

    assert extension == extend_labels(labels, inputs, matches, related=RELATED, alpha=alpha)
    if extension is None:
        return
    judged = [
        (extension.before, extension.after),
        *([extension.held_out] if extension.held_out else []),
    ]
    for before, after in judged:
        assert after.f1 >= before.f1
        assert after.recall >= before.recall
    assert extension.after == of_labels((*labels, *extension.added), inputs, matches)
    assert extension.before == of_labels(labels, inputs, matches)
    assert extension.added
    assert len(set(extension.added)) == len(extension.added)
    assert not {label.lower() for label in extension.added} & {"amber", "fire"}


@given(observations, ways, alphas)
def test_extension_equals_the_result_of_a_naive_search(
    inputs: list[Observation], matches: Matches, alpha: float
) -> None:
    extension = extend_labels(("Fire", "fire"), inputs, matches, related=RELATED, alpha=alpha)

    assert (extension.added if extension else ()) == naive_extension(inputs, matches, alpha)


def of_labels(
    labels: Sequence[str], observations: Sequence[Observation], matches: Matches
) -> BranchCounts:
    return count_inputs(
        (item.is_expected, matches(frozenset(labels), item.recognised)) for item in observations
    )


def naive_extension(
    observations: list[Observation], matches: Matches, alpha: float
) -> tuple[str, ...]:
    """Return the labels by measuring everything again in each round."""
    labels = ["Fire", "fire"]
    held = held_out_indices([item.is_expected for item in observations])
    fit = [function for at, function in enumerate(observations) if at not in held]
    missed = [
        item for item in fit if item.is_expected and not matches(frozenset(labels), item.recognised)
    ]
    forms: list[Callable[[str], str]] = [str, str.lower, str.upper, str.title, str.capitalize]
    candidates = {
        (form(label), place)
        for item in missed
        for label in item.recognised
        if label != "Amber"
        for place, form in enumerate(forms)
    }
    while (now := of_labels(labels, fit, matches)).recall < alpha:
        tried = [
            (-then.correct, then.taken, place, label)
            for label, place in candidates
            if (then := of_labels([*labels, label], fit, matches)).correct > now.correct
            and then.f1 >= now.f1
        ]
        if not tried:
            break
        labels.append(min(tried)[-1])
    parts = [observations, [observations[at] for at in sorted(held)]]
    is_worse = any(
        of_labels(labels, part, matches).f1 < of_labels(labels[:2], part, matches).f1
        for part in parts
    )
    return () if is_worse else tuple(labels[2:])


def test_branch_with_sufficient_recall_is_not_extended() -> None:
    observations = [*[fires("Fire")] * 3, fires("Flame")]

    assert of_labels(["Fire"], observations, equals_label).recall == ALPHA
    assert extend_labels(["Fire"], observations, equals_label, related=RELATED) is None
    assert isinstance(
        extend_labels(["Fire"], observations, equals_label, related=RELATED, alpha=1), Extension
    )


@pytest.mark.parametrize(
    ("right", "expected", "is_failure"),
    [
        (8, 25, True),
        (0, 5, True),
        (13, 20, False),  # could be three of four, by chance
        (15, 20, False),
        (60, 100, True),
        (0, 0, False),
    ],
)
def test_recall_is_too_low_only_if_significant(
    right: int, expected: int, *, is_failure: bool
) -> None:
    assert is_below(BranchCounts(expected=expected, taken=right, correct=right), 0.75) is is_failure
