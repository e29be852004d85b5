"""Evidence of findings: expected, observed, invariant and source."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from outcome_examples import NEW, OLD, case, passed, subject

from ciguard.domain.findings import Finding, Severity
from ciguard.domain.intent import Intent
from ciguard.domain.outcomes import Crashed, Hung, Outcome, Passed, Rejected
from ciguard.domain.policy import Action, FindingClass, Policy, class_of
from ciguard.domain.values import Constant, LiteralValue, TensorValue
from ciguard.execution import Container, Output, Scalar, TensorDigest, TensorOutput
from ciguard.knowledge import ClueSource
from ciguard.oracles import judge, slow_finding, timeout_of
from ciguard.oracles.showing import output_in_words, side_by_side
from ciguard.oracles.specifications import Specification, interval

REFUSED = Rejected("ValueError", "p must be in [0, 1]")
P = Specification(
    parameter="p",
    position=1,
    requirement=interval(low=0.0, high=1.0),
    source=ClueSource.DOC_PHRASE,
    sentence="Float between 0 and 1",
)


def tensor(*elements: float, shape: tuple[int, ...] = ()) -> TensorOutput:
    values = np.array(elements, dtype=np.float32)
    return TensorOutput("float32", shape or (len(elements),), values)


def single_finding(outcomes: dict[str, Outcome], *, p: float = 0.5) -> Finding:
    tested = case(TensorValue("float32", (2,), Constant(1)), LiteralValue(p))
    tested = replace(tested, intent=Intent.CONFORMING, focus="p")
    (finding,) = judge(
        tested, outcomes, replace(subject(names=(OLD, NEW)), specifications={"p": (P,)})
    )
    return finding


def test_the_evidence_of_a_difference_shows_both_results() -> None:
    evidence = single_finding({OLD: passed(1.0, 2.0), NEW: passed(1.0, 5.0)}).evidence

    assert evidence.expected == f"{OLD}: returns float32[2] (1, 2)"
    assert evidence.observed == f"{NEW}: returns float32[2] (1, 5)"
    assert evidence.law == "The same call gives the same result in every version"


def test_a_new_rejection_has_medium_severity() -> None:
    finding = single_finding({OLD: passed(1.0), NEW: REFUSED})

    assert class_of(finding) is FindingClass.REGRESSION
    assert Policy().action(finding) is Action.FAIL
    assert finding.evidence.observed == f"{NEW}: raises ValueError: p must be in [0, 1]"


def test_a_rejection_of_a_forbidden_argument_is_information() -> None:
    finding = single_finding({OLD: passed(1.0), NEW: REFUSED}, p=2.0)

    assert (finding.kind, finding.severity) == ("refused", Severity.INFO)
    assert class_of(finding) is FindingClass.CHANGE
    assert finding.evidence.law == "'p' is in [0, 1]"
    assert finding.evidence.source == "the documentation: “Float between 0 and 1”"


def test_accepting_a_forbidden_argument_on_one_target_cites_the_documentation(
) -> None:  # fmt: skip
    finding = single_finding({OLD: REFUSED, NEW: passed(1.0)}, p=2.0)

    assert (finding.oracle, finding.kind, finding.severity) == (
        "differential",
        "accepted",
        Severity.LOW,
    )
    assert class_of(finding) is FindingClass.ACCEPTED_ILLEGAL
    assert finding.evidence.expected == f"{OLD}: raises ValueError: p must be in [0, 1]"
    assert finding.evidence.observed == f"{NEW}: returns float32[1] (1)"


def test_the_message_of_a_hang_names_the_targets_that_return() -> None:
    finding = single_finding({OLD: passed(1.0), NEW: Hung(5.0)})

    assert finding.message == (
        f"torch.fold does not return within 5 s on {NEW}, and returns in 0.001 s on {OLD}"
    )
    assert finding.evidence.expected == f"returns in 0.001 s on {OLD}"
    assert timeout_of(finding) == 5.0


@pytest.mark.parametrize(
    "outcomes",
    [
        {OLD: passed(1.0), NEW: Hung(50.0)},
        {OLD: passed(1.0), NEW: Passed(b"null", 4.9)},
        {OLD: passed(1.0), NEW: Crashed("SIGKILL")},
        {OLD: Hung(50.0), NEW: Passed(b"null", 9.0)},
    ],
)
def test_a_call_is_slow_only_if_it_exceeds_the_timeout_and_returns_on_all_targets(
    outcomes: dict[str, Outcome],
) -> None:
    assert slow_finding(single_finding({OLD: passed(1.0), NEW: Hung(5.0)}), outcomes) is None


@pytest.mark.parametrize(
    ("output", "text"),
    [
        (tensor(1.0, 2.5, 3.0, 4.0), "float32[4] (1, 2.5, 3, …)"),
        (tensor(shape=(0, 4)), "float32[0, 4]"),
        (Scalar("none", ""), "None"),
        (Scalar("O", "Generator"), "an object of Generator"),
        (Scalar("f", "0.5"), "0.5"),
        (
            Container("tuple", (), (tensor(1.0), Scalar("i", "3")), 2),
            "tuple of 2: float32[1] (1), 3",
        ),
    ],
)
def test_a_result_is_shown_briefly(output: Output, text: str) -> None:
    assert output_in_words(output) == text


def test_results_are_shown_where_they_differ_most() -> None:
    mine = tensor(*range(8), shape=(2, 4))
    theirs = tensor(0, 1, 2, 3.5, 4, 5, 9, 7, shape=(2, 4))

    assert side_by_side(mine, theirs) == (
        "float32[2, 4] (from [1, 2]: 6, 7)",
        "float32[2, 4] (from [1, 2]: 9, 7)",
    )


def test_nan_on_one_side_is_the_largest_difference() -> None:
    mine = tensor(0, 1, 2, 3, float("nan"), 5)
    theirs = tensor(0, 1, 2, 300, 4, 5)

    assert side_by_side(mine, theirs)[0] == "float32[6] (from [4]: nan, 5)"


def test_the_differing_item_of_a_container_is_shown() -> None:
    same, other = tensor(1.0), tensor(2.0)

    sides = side_by_side(
        Container("tuple", (), (same, same), 2), Container("tuple", (), (same, other), 2)
    )

    assert sides == ("item 1: float32[1] (1)", "item 1: float32[1] (2)")


def test_the_position_of_a_digests_elements_is_not_shown() -> None:
    mine = TensorDigest("float32", (9, 9), np.arange(8.0), "a", 0, 0)
    theirs = TensorDigest("float32", (9, 9), np.array([0, 1, 2, 3, 4, 5, 6, 9.0]), "b", 0, 0)

    assert side_by_side(mine, theirs)[1] == "float32[9, 9] (…, 9, …)"
