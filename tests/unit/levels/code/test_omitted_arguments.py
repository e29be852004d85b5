"""Standalone checks that omit arguments whose default is None."""

from __future__ import annotations

from dataclasses import replace

from ciguard.domain.api_calls import CallKind
from ciguard.domain.programs import Derivation, Operator
from ciguard.domain.records import ApiRecord, ParameterRecord
from ciguard.levels.code.blocks import INPUT, Block, BlockTensor, LibraryCall
from ciguard.levels.code.knowledge import Apis
from ciguard.levels.code.nodes import CandidateBlock
from ciguard.levels.code.omissions import OmissionCheck

UPSAMPLE = ApiRecord(
    api="jittor.nn.Upsample",
    kind=CallKind.LAYER,
    parameters=(
        ParameterRecord(name="scale_factor", required=False, default="None"),
        ParameterRecord(name="mode", required=False, default="'nearest'"),
    ),
    inputs=(ParameterRecord(name="x"),),
)
OMISSIONS = OmissionCheck(Apis([UPSAMPLE]))
SEED = "FACTOR = 2\n"


def candidate(*positional: str, **keywords: str) -> CandidateBlock:
    call = LibraryCall(
        api=UPSAMPLE.api,
        positional=positional,
        keywords=tuple(keywords.items()),
        makes_layer=True,
    )
    block = Block(name="larger", calls=(call,), input_sources=(INPUT,))
    step = Derivation(block="larger", line=0)
    return CandidateBlock(block=block, steps=(step,), input_form=BlockTensor((5, 3, 4, 4)))


def test_the_layer_runs_without_the_argument_after_a_control_with_it() -> None:
    (program,) = OMISSIONS(candidate("FACTOR", mode="'bilinear'"), SEED)

    call = "layer = jittor.nn.Upsample(mode='bilinear')"
    assert program.source.splitlines()[1] == call
    assert program.control.splitlines()[1] == "layer = jittor.nn.Upsample(2, mode='bilinear')"
    assert (program.step.operator, program.step.line) == (Operator.OMITTED, 2)
    assert (program.step.parameter, program.step.before, program.step.after) == (
        "scale_factor",
        "2",
        "None",
    )
    assert program.step.change == "scale_factor of jittor.nn.Upsample: 2 → None"


def test_arguments_with_another_default_are_not_omitted() -> None:
    assert list(OMISSIONS(candidate(mode="'bilinear'"), SEED)) == []
    assert list(OMISSIONS(candidate("None"), SEED)) == []
    assert list(OMISSIONS(candidate("factor"), SEED)) == []


def test_a_block_without_library_calls_has_no_omission() -> None:
    known = candidate("2")
    bare = replace(known, block=replace(known.block, calls=(), input_sources=()))

    assert list(OMISSIONS(bare, SEED)) == []
