"""Standalone checks with one sample instead of a batch."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from ciguard.domain.api_calls import CallKind
from ciguard.domain.programs import Derivation, Operator
from ciguard.domain.records import ApiRecord, ParameterRecord
from ciguard.levels.code.blocks import INPUT, Block, BlockTensor, LibraryCall
from ciguard.levels.code.knowledge import Apis
from ciguard.levels.code.nodes import CandidateBlock
from ciguard.levels.code.samples import SampleCheck

if TYPE_CHECKING:
    from ciguard.levels.code.standalone import StandaloneProgram

CONV = ApiRecord(
    api="torch.nn.Conv1d",
    kind=CallKind.LAYER,
    parameters=(ParameterRecord(name="in_channels"), ParameterRecord(name="out_channels")),
    inputs=(ParameterRecord(name="input"),),
    forms=("(N, C_{in}, L_{in})", "(C_{in}, L_{in})"),
)
NORM = replace(CONV, api="torch.nn.BatchNorm1d", forms=("(N, C)", "(N, C, L)"))
SAMPLES = SampleCheck(Apis([CONV, NORM]))
SEED = "WIDTH = 4\nNAME = 'x'\n"
BATCH = BlockTensor((25, 3, 9))


def block(*positional: str, api: str = "torch.nn.Conv1d", adapter: str = "") -> Block:
    call = LibraryCall(
        api=api, positional=positional, keywords=(("kernel_size", "1"),), makes_layer=True
    )
    return Block(name="conv", calls=(call,), adapter=adapter, input_sources=(INPUT,))


def tried(
    changed: Block, input_form: BlockTensor = BATCH, place: int = 0
) -> list[StandaloneProgram]:
    step = Derivation(block="conv", line=0, api=changed.calls[place].api)
    candidate = CandidateBlock(block=changed, steps=(step,), place=place, input_form=input_form)
    return list(SAMPLES(candidate, SEED))


def test_the_layer_runs_on_one_sample_after_a_control_on_a_batch() -> None:
    (program,) = tried(block("3", "2 * WIDTH"))

    assert program.source.splitlines()[1] == "layer = torch.nn.Conv1d(3, 2 * 4, kernel_size=1)"
    assert "torch.randn((3, 9)" in program.source
    assert program.control == program.source.replace("(3, 9)", "(25, 3, 9)")
    assert (program.step.operator, program.step.line) == (Operator.UNBATCHED, 2)
    assert (program.step.before, program.step.after) == ("(25, 3, 9)", "(3, 9)")
    assert program.step.sentence == "Input: (N, C_in, L_in) or (C_in, L_in)"


@pytest.mark.parametrize(
    ("other", "input_form"),
    [
        (block("3", "4", api="torch.nn.BatchNorm1d"), BATCH),
        (block("3", "4", api="torch.nn.Unknown"), BATCH),
        (block("3", "4"), BlockTensor((3, 9))),
        (block("channels", "4"), BATCH),
        (block("*sizes"), BATCH),
        (block("3", "4", adapter="x.flatten(1)"), BATCH),
        (replace(block("3", "4"), input_sources=(None,)), BATCH),
    ],
    ids=["forms", "unknown", "rank", "name", "unpacked", "adapter", "elsewhere"],
)
def test_a_layer_without_both_documented_forms_is_not_checked(
    other: Block, input_form: BlockTensor
) -> None:
    assert tried(other, input_form) == []


def test_a_layer_with_further_inputs_is_not_checked() -> None:
    plain, with_more_inputs = (
        block_called.with_call(0, replace(block_called.calls[0], use=use))
        for block_called, use in ((block("3", "4"), "f(x)"), (block("3", "4"), "f(x, x)"))
    )

    assert tried(plain)
    assert not tried(with_more_inputs)


def test_a_later_call_of_a_block_is_not_checked() -> None:
    both = replace(block("3", "4"), calls=block("3", "4").calls * 2)

    assert tried(both, place=1) == []
