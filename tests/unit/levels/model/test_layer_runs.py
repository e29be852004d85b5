"""Oracle of layer runs on several backends: the blamed target and the kind of finding."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from model_examples import ALONE, ENGINES, MODEL, alone, predicted, returned, subject

from ciguard.domain.findings import Finding, PairKind, Severity
from ciguard.domain.models import Check
from ciguard.domain.outcomes import Crashed, Outcome, Rejected
from ciguard.domain.values import ArrayValue, Uniform
from ciguard.oracles import judge
from ciguard.oracles.comparing import is_explained_by_rounding, may_be_rounding

RIGHT = [[0.2, 0.3, 0.5], [0.1, 0.1, 0.8]]
WRONG = [[0.2, 0.3, 0.6], [0.1, 0.1, 0.8]]
REFUSED = Rejected("ValueError", "layer 'layer': rank 3 is not supported")


def on(*outcomes: Outcome) -> dict[str, Outcome]:
    return dict(zip(ENGINES, outcomes, strict=False))


def findings_of(case: Any, *outcomes: Outcome, tags: tuple[str, ...] = ()) -> list[Finding]:
    return judge(case, on(*outcomes), subject(case.api, *tags, count=len(outcomes)))


@pytest.mark.parametrize("place", [0, 1, 2])
def test_the_target_that_two_others_disagree_with_is_blamed(place: int) -> None:
    outcomes = [alone(RIGHT)] * 3
    outcomes[place] = alone(WRONG)

    (finding,) = findings_of(ALONE, *outcomes)

    assert finding.targets[1] == ENGINES[place]
    assert finding.targets[0] == ENGINES[1 if place == 0 else 0]
    assert (finding.kind, finding.pair) == ("values", PairKind.BACKEND)
    assert finding.detail == f"predict: {ENGINES[place]}"
    assert finding.severity is Severity.HIGH
    assert set(finding.outcomes) == set(ENGINES)  # confirmation elects the reference again


def test_a_loss_of_double_precision_is_of_medium_severity() -> None:
    data = (ArrayValue("float64", (2, 3), Uniform(1, -1.0, 1.0)),)
    double = replace(ALONE, data=data, dtype="float64")
    exact, narrowed = (
        returned({"outputs": [np.array(RIGHT, dtype=dtype).astype(np.float64)]})
        for dtype in (np.float64, np.float32)
    )

    (finding,) = findings_of(double, exact, narrowed, exact)

    assert finding.targets[1] == ENGINES[1]
    assert finding.severity is Severity.MEDIUM


def test_the_first_of_two_targets_is_the_reference() -> None:
    (finding,) = findings_of(ALONE, alone(WRONG), alone(RIGHT))

    assert finding.targets == ENGINES[:2]


def test_rounding_is_no_difference() -> None:
    off = np.array(RIGHT, dtype=np.float32) * np.float32(1 + 1e-6)

    assert not findings_of(ALONE, alone(RIGHT), alone(off), alone(RIGHT))


def test_a_random_layer_is_compared_in_form_only() -> None:
    training = replace(ALONE, training=True)

    assert not findings_of(training, alone(RIGHT), alone(WRONG), tags=("random",))
    assert not findings_of(ALONE, alone(RIGHT), alone(WRONG), tags=("unstable",))
    assert (
        findings_of(training, alone(RIGHT), alone(RIGHT[:1]), tags=("random",))[0].kind == "shape"
    )


def test_a_random_layer_is_compared_in_values_outside_of_training() -> None:
    (finding,) = findings_of(ALONE, alone(RIGHT), alone(WRONG), tags=("random",))

    assert finding.kind == "values"


def test_nan_on_one_backend_is_a_difference() -> None:
    (finding,) = findings_of(ALONE, alone(RIGHT), alone([[np.nan] * 3] * 2), alone(RIGHT))

    assert (finding.kind, finding.targets[1]) == ("nan", "tensorflow")
    assert finding.severity is Severity.LOW


def test_a_rejection_is_a_finding_unless_all_targets_reject() -> None:
    (finding,) = findings_of(ALONE, alone(RIGHT), REFUSED, alone(RIGHT))

    assert (finding.kind, finding.targets) == ("refused", ("torch", "tensorflow"))
    assert not findings_of(ALONE, REFUSED, REFUSED, REFUSED)


def test_a_run_that_only_one_target_accepts_is_no_finding() -> None:
    assert not findings_of(ALONE, REFUSED, alone(RIGHT), REFUSED)


def test_the_detail_names_the_differing_gradient() -> None:
    case = replace(ALONE, check=Check.TRAIN)
    right = {"loss": np.float32(1.0), "gradients": {"layer/kernel": np.ones(3, np.float32)}}
    wrong = {"loss": np.float32(1.0), "gradients": {"layer/kernel": np.zeros(3, np.float32)}}

    (finding,) = findings_of(case, *(returned(result) for result in (right, right, wrong)))

    assert finding.detail == "train: gradients: jax"


def test_a_whole_model_is_judged_by_its_outcome_only() -> None:
    right = predicted(first=RIGHT, second=RIGHT)
    wrong = predicted(first=RIGHT, second=WRONG)

    assert not findings_of(MODEL, right, wrong, right)
    assert {f.kind for f in findings_of(MODEL, right, REFUSED, right)} == {"refused"}
    assert {f.oracle for f in findings_of(MODEL, right, Crashed("SIGSEGV"), right)} == {"crash"}


def test_a_saved_layer_is_compared_with_itself_on_every_target() -> None:
    case = replace(ALONE, check=Check.SAVE)
    unchanged = returned({"before": [np.array(RIGHT)], "after": [np.array(RIGHT)]})
    changed_by_saving = returned({"before": [np.array(RIGHT)], "after": [np.array(WRONG)]})

    (everywhere,) = findings_of(case, changed_by_saving, changed_by_saving)
    (somewhere,) = findings_of(case, unchanged, changed_by_saving)

    assert (everywhere.oracle, everywhere.kind) == ("metamorphic", "saved model")
    assert everywhere.targets == ENGINES[:2]
    assert somewhere.targets == ("tensorflow",)
    assert not findings_of(case, unchanged, unchanged)


def test_a_change_by_saving_is_rounding_only_if_it_is_small() -> None:
    case = replace(ALONE, check=Check.SAVE)
    off = np.array(RIGHT, dtype=np.float32) * np.float32(1 + 2e-5)
    right = np.array(RIGHT, dtype=np.float32)
    changed_by_saving = returned({"before": [right], "after": [np.array(WRONG, dtype=np.float32)]})
    almost_unchanged = returned({"before": [right], "after": [off]})
    rerun = returned({"before": [off], "after": [right]})
    (large_change,) = findings_of(case, changed_by_saving, changed_by_saving)
    (small_change,) = findings_of(case, almost_unchanged, almost_unchanged)

    assert may_be_rounding(large_change)
    assert not is_explained_by_rounding(
        large_change, dict.fromkeys(ENGINES[:2], (changed_by_saving,))
    )
    assert is_explained_by_rounding(small_change, dict.fromkeys(ENGINES[:2], (rerun,)))


def test_a_call_is_not_judged_as_a_layer_run() -> None:
    assert not findings_of(ALONE, alone(RIGHT), alone(RIGHT))
