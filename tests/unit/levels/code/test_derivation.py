"""Derivation oracle: a legal block must run in a program, a forbidden one must be rejected."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from outcome_examples import NEW, OLD, subject
from program_examples import FORBIDDEN, REPLACED, negative, positive, ran

from ciguard.domain.findings import Severity
from ciguard.domain.outcomes import Crashed, Errored, Outcome, Rejected, Stage
from ciguard.domain.programs import Derivation, Operator
from ciguard.oracles import judge

if TYPE_CHECKING:
    from ciguard.domain.findings import Finding
    from ciguard.domain.programs import ProgramCase

FAILS = Rejected("RuntimeError", "line 8: could not create a primitive")


def findings_of(case: ProgramCase, old: Outcome, new: Outcome | None = None) -> list[Finding]:
    outcomes = {OLD: old} if new is None else {OLD: old, NEW: new}
    return judge(case, outcomes, subject(names=tuple(outcomes)))


def test_a_program_that_fails_although_its_block_runs_is_found() -> None:
    (finding,) = findings_of(positive(), FAILS, FAILS)

    assert (finding.oracle, finding.kind) == ("derivation", "positive-failed")
    assert finding.severity is Severity.MEDIUM
    assert finding.targets == (OLD, NEW)
    assert finding.detail == "stride"
    assert finding.message == (
        "torch.nn.Conv2d with stride=3 (was 1) runs alone but not in a program: "
        "RuntimeError: could not create a primitive"
    )
    assert finding.evidence.observed == (
        "line 8 of the program raises RuntimeError: could not create a primitive"
    )
    assert "stride controls the stride" in finding.evidence.source


def test_a_finding_names_the_replaced_and_the_new_api() -> None:
    (finding,) = findings_of(positive(REPLACED), FAILS)

    assert finding.message.startswith("torch.nn.GELU in the place of torch.nn.ReLU runs alone but")
    assert finding.detail == "AR"


def test_a_layer_that_rejects_one_sample_is_found_whatever_its_message() -> None:
    padded = Derivation(
        block="conv",
        line=2,
        api="torch.nn.Conv1d",
        operator=Operator.GENERATION,
        parameter="padding_mode",
        after="'circular'",
    )
    alone = Derivation(
        block="conv",
        line=2,
        api="torch.nn.Conv1d",
        operator=Operator.UNBATCHED,
        before="(4, 3, 9)",
        after="(3, 9)",
        sentence="Input: (N, C_in, L_in) or (C_in, L_in)",
    )
    case = positive(padded, alone)
    refused = Rejected("RuntimeError", "line 4: Invalid padding size, expected 0 but got 2")

    (finding,) = findings_of(case, refused)

    assert finding.detail == "UB"
    assert finding.message == (
        "torch.nn.Conv1d with padding_mode='circular' (was not given) runs on a batch but not on "
        "one sample: RuntimeError: Invalid padding size, expected 0 but got 2"
    )
    assert "(C_in, L_in)" in finding.evidence.source
    assert case.ancestry.path[-1].change == "input of torch.nn.Conv1d: (4, 3, 9) → (3, 9)"


def test_a_layer_that_rejects_the_batch_too_is_no_finding() -> None:
    alone = Derivation(
        block="conv", line=2, api="torch.nn.Conv1d", operator=Operator.UNBATCHED, after="(3, 9)"
    )

    assert not findings_of(
        positive(alone), Rejected("RuntimeError", "block alone, line 4: no batch")
    )


OMITTED = Derivation(
    block="larger",
    line=2,
    api="torch.nn.Upsample",
    operator=Operator.OMITTED,
    parameter="scale_factor",
    before="2",
    after="None",
)


def test_a_layer_that_fails_on_its_default_none_is_found() -> None:
    text = "line 4: unsupported operand type(s) for *: 'int' and 'NoneType'"

    (finding,) = findings_of(positive(OMITTED), Rejected("TypeError", text))

    assert finding.detail == "scale_factor"
    assert finding.message.startswith(
        "torch.nn.Upsample without scale_factor (was 2) fails on None, which is its default"
    )


@pytest.mark.parametrize(
    "text",
    [
        "line 4: scale_factor should be defined",
        "block alone, line 4: unsupported operand type(s) for *: 'int' and 'NoneType'",
    ],
)
def test_a_layer_that_names_the_missing_argument_is_no_finding(text: str) -> None:
    assert not findings_of(positive(OMITTED), Rejected("ValueError", text))


def test_a_block_of_the_seed_itself_is_named_alone() -> None:
    step = Derivation(block="fc", line=3, api="torch.nn.Linear", operator=Operator.NONE)
    (finding,) = findings_of(positive(step), FAILS)

    assert finding.message.startswith("torch.nn.Linear runs alone but")


@pytest.mark.parametrize(
    "outcome",
    [
        Rejected("RuntimeError", "block alone, line 3: could not create a primitive"),
        Rejected("NameError", "line 3: name 'x' is not defined", Stage.BUILD),
        Rejected("TypeError", "line 3: __init__() got an unexpected keyword argument 'device'"),
        ran(),
    ],
)
def test_an_inconclusive_outcome_is_no_finding(outcome: Outcome) -> None:
    assert findings_of(positive(), outcome, outcome) == []


@pytest.mark.parametrize(
    "message",
    [
        "mat1 and mat2 shapes cannot be multiplied (4x72 and 50x2)",
        "Given groups=1, weight of size [2, 1, 3, 3], expected input[4, 3, 8] to have 1 channels",
        "Expected 3D (unbatched) or 4D (batched) input to conv2d, but got input of size: [4, 72]",
        "The size of tensor a (8) must match the size of tensor b (3) at non-singleton dimension 3",
        'Input 0 of layer "dense" is incompatible with the layer: expected min_ndim=2, found 1',
        "Negative dimension size caused by subtracting 5 from 3",
        "`logits` and `labels` must have the same shape, received ((4, 2) vs (4, 1))",
        "expected scalar type Float but found Long",
        "Input type (double) and bias type (float) should be the same",
        "\"softmax_lastdim_kernel_impl\" not implemented for 'Long'",
        "conv2d() received an invalid combination of arguments - got (tuple, Parameter)",
        "element 0 of tensors does not require grad and does not have a grad_fn",
        "derivative for aten::_histogramdd is not implemented",
        "one of the variables needed has been modified by an inplace operation",
        "No gradients provided for any variable.",
        "Expected more than 1 value per channel when training, got input size [1, 64]",
        "all elements of input should be between 0 and 1",
        "Target 7 is out of bounds.",
        "loss is NaN",
        "can't start new thread",
    ],
)
def test_an_incompatible_program_is_no_finding(message: str) -> None:
    assert findings_of(positive(), Rejected("RuntimeError", f"line 8: {message}")) == []


@pytest.mark.parametrize("exception", ["FileNotFoundError", "PermissionError", "URLError"])
def test_a_limit_of_the_machine_is_no_finding(exception: str) -> None:
    assert findings_of(positive(), Rejected(exception, "line 8: refused")) == []


def test_a_program_that_runs_on_one_target_is_no_derivation_finding() -> None:
    (finding,) = findings_of(positive(), ran(), FAILS)

    assert (finding.oracle, finding.kind) == ("differential", "refused")


def test_crashes_and_hangs_are_left_to_other_oracles() -> None:
    internal = Errored("RuntimeError", "line 8: INTERNAL ASSERT FAILED")

    assert [finding.oracle for finding in findings_of(positive(), internal)] == ["internal-error"]
    assert [finding.oracle for finding in findings_of(positive(), Crashed("SIGSEGV"))] == ["crash"]


def test_a_forbidden_argument_that_block_and_program_accept_is_found() -> None:
    (finding,) = findings_of(negative(), ran(), ran())

    assert (finding.oracle, finding.kind) == ("derivation", "accepted-illegal")
    assert finding.severity is Severity.LOW
    assert finding.targets == (OLD, NEW)
    assert finding.detail == "p"
    assert finding.message == (
        "torch.nn.Dropout with p=1.5 (was 0.5) is accepted, alone and in a program, against the "
        "documentation: “p: probability of an element to be zeroed, between 0 and 1.”"
    )
    assert finding.evidence.expected == "an exception about 'p'"
    assert finding.evidence.law == "'p' is not 1.5"


def test_a_rejected_forbidden_argument_is_no_finding() -> None:
    refusal = Rejected("ValueError", "line 5: dropout probability has to be between 0 and 1")

    assert findings_of(negative(), ran(block="ValueError"), ran(block="ValueError")) == []
    assert findings_of(negative(), refusal, refusal) == []


def test_an_acceptance_without_documentation_is_no_finding() -> None:
    step = Derivation(block="drop", line=5, parameter="p", operator=Operator.BOUNDARY, after="2")

    assert findings_of(negative(step), ran()) == []


def test_a_convention_is_not_quoted_as_documentation() -> None:
    stated = Derivation(
        block="drop", line=5, api="torch.nn.LayerNorm", parameter="eps", operator=Operator.BOUNDARY,
        before="1e-05", after="-0.0001", sentence="a term against division by zero is not negative",
    )  # fmt: skip
    (finding,) = findings_of(negative(stated), ran())
    (documented,) = findings_of(negative(FORBIDDEN), ran())

    assert finding.severity is documented.severity is Severity.LOW
    assert finding.evidence.source == (
        "convention: “a term against division by zero is not negative”"
    )
    assert documented.evidence.source.startswith("the documentation: “")


def test_a_block_program_by_itself_is_not_judged() -> None:
    assert findings_of(negative(FORBIDDEN, block=""), ran()) == []
    assert findings_of(positive(block=""), FAILS) == []


def test_a_version_without_the_api_does_not_excuse_the_others() -> None:
    lacking = Rejected("ImportError", "line 1: cannot import name 'GELU'", Stage.BUILD)
    (finding,) = findings_of(positive(), lacking, FAILS)

    assert finding.targets == (NEW,)
