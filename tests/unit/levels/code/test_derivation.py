"""A block that is legal runs in a program; one that is not is refused."""

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


def found(case: ProgramCase, old: Outcome, new: Outcome | None = None) -> list[Finding]:
    outcomes = {OLD: old} if new is None else {OLD: old, NEW: new}
    return judge(case, outcomes, subject(names=tuple(outcomes)))


def test_a_program_that_fails_although_its_block_runs_is_found() -> None:
    (finding,) = found(positive(), FAILS, FAILS)

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


def test_a_replaced_api_is_named_with_the_one_before() -> None:
    (finding,) = found(positive(REPLACED), FAILS)

    assert finding.message.startswith("torch.nn.GELU in the place of torch.nn.ReLU runs alone but")
    assert finding.detail == "AR"


def test_a_layer_that_runs_on_a_batch_but_not_on_one_sample_is_found_whatever_it_says() -> None:
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

    (finding,) = found(case, refused)

    assert finding.detail == "UB"
    assert finding.message == (
        "torch.nn.Conv1d with padding_mode='circular' (was not given) runs on a batch but not on "
        "one sample: RuntimeError: Invalid padding size, expected 0 but got 2"
    )
    assert "(C_in, L_in)" in finding.evidence.source
    assert case.ancestry.path[-1].change == "input of torch.nn.Conv1d: (4, 3, 9) → (3, 9)"


def test_a_layer_that_does_not_take_the_batch_either_is_not_blamed() -> None:
    alone = Derivation(
        block="conv", line=2, api="torch.nn.Conv1d", operator=Operator.UNBATCHED, after="(3, 9)"
    )

    assert not found(positive(alone), Rejected("RuntimeError", "block alone, line 4: no batch"))


OMITTED = Derivation(
    block="larger",
    line=2,
    api="torch.nn.Upsample",
    operator=Operator.OMITTED,
    parameter="scale_factor",
    before="2",
    after="None",
)


def test_a_layer_that_stumbles_over_its_own_default_is_found() -> None:
    text = "line 4: unsupported operand type(s) for *: 'int' and 'NoneType'"

    (finding,) = found(positive(OMITTED), Rejected("TypeError", text))

    assert finding.detail == "scale_factor"
    assert finding.message.startswith(
        "torch.nn.Upsample without scale_factor (was 2) stumbles over None, which is its default"
    )


@pytest.mark.parametrize(
    "text",
    [
        "line 4: scale_factor should be defined",
        "block alone, line 4: unsupported operand type(s) for *: 'int' and 'NoneType'",
    ],
)
def test_a_layer_that_says_what_it_must_be_given_is_not_blamed(text: str) -> None:
    assert not found(positive(OMITTED), Rejected("ValueError", text))


def test_a_block_of_the_seed_itself_is_named_alone() -> None:
    step = Derivation(block="fc", line=3, api="torch.nn.Linear", operator=Operator.NONE)
    (finding,) = found(positive(step), FAILS)

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
def test_what_says_nothing_of_the_library_is_no_finding(outcome: Outcome) -> None:
    assert found(positive(), outcome, outcome) == []


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
def test_a_program_that_does_not_fit_together_is_no_finding(message: str) -> None:
    assert found(positive(), Rejected("RuntimeError", f"line 8: {message}")) == []


@pytest.mark.parametrize("exception", ["FileNotFoundError", "PermissionError", "URLError"])
def test_what_the_machine_refuses_is_no_finding(exception: str) -> None:
    assert found(positive(), Rejected(exception, "line 8: refused")) == []


def test_what_runs_on_one_target_is_a_difference_between_targets() -> None:
    (finding,) = found(positive(), ran(), FAILS)

    assert (finding.oracle, finding.kind) == ("differential", "refused")


def test_other_ends_are_found_by_other_oracles() -> None:
    internal = Errored("RuntimeError", "line 8: INTERNAL ASSERT FAILED")

    assert [one.oracle for one in found(positive(), internal)] == ["internal-error"]
    assert [one.oracle for one in found(positive(), Crashed("SIGSEGV"))] == ["crash"]


def test_a_forbidden_argument_that_block_and_program_take_is_found() -> None:
    (finding,) = found(negative(), ran(), ran())

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


def test_a_forbidden_argument_that_is_refused_is_no_finding() -> None:
    refusal = Rejected("ValueError", "line 5: dropout probability has to be between 0 and 1")

    assert found(negative(), ran(block="ValueError"), ran(block="ValueError")) == []
    assert found(negative(), refusal, refusal) == []


def test_a_claim_without_words_of_the_documentation_is_no_finding() -> None:
    step = Derivation(block="drop", line=5, parameter="p", operator=Operator.BOUNDARY, after="2")

    assert found(negative(step), ran()) == []


def test_a_block_program_by_itself_is_not_judged() -> None:
    assert found(negative(FORBIDDEN, block=""), ran()) == []
    assert found(positive(block=""), FAILS) == []


def test_what_a_version_lacks_does_not_excuse_the_others() -> None:
    lacking = Rejected("ImportError", "line 1: cannot import name 'GELU'", Stage.BUILD)
    (finding,) = found(positive(), lacking, FAILS)

    assert finding.targets == (NEW,)
