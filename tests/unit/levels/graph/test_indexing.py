"""Indexing of results: what is drawn, and how it is written."""

from __future__ import annotations

import ast
import random
from dataclasses import replace
from math import prod
from typing import Any

import pytest
from graph_examples import PAIR, graph
from hypothesis import given
from hypothesis import strategies as st

from ciguard.domain.api_calls import ApiCall, CallKind
from ciguard.domain.case import case_from_json, case_to_json
from ciguard.domain.graphs import ELLIPSIS, SLICE, GraphCase
from ciguard.domain.values import (
    CallValue,
    Explicit,
    LiteralValue,
    MemberValue,
    ResultValue,
    TensorValue,
    TupleValue,
    Uniform,
    Value,
)
from ciguard.execution.worker.fills import elements
from ciguard.execution.worker.graphs import Graph, changes_tensors
from ciguard.levels.graph.indexing import indexed
from ciguard.levels.graph.reshaping import changes_in_place
from ciguard.libraries import LIBRARIES, Subscripts
from ciguard.writing import ScriptSource, writer_of

SUBSCRIPTS = Subscripts(
    read="torch.Tensor.__getitem__", assign="torch.Tensor.__setitem__", index_dtype="int64"
)
READ_ONLY = Subscripts(read="tensorflow.Tensor.__getitem__")
shapes = st.lists(st.integers(1, 4), min_size=1, max_size=4).map(tuple)


class Arrays:
    """Builds the values of a worker, with arrays of numpy for tensors."""

    def value(self, encoded: Any) -> Any:
        tag, dtype, shape, fill = encoded
        assert tag == "t"
        return elements(fill, dtype, shape)


def tensor(shape: tuple[int, ...]) -> TensorValue:
    return TensorValue("float32", shape, Uniform(1, -2.0, 2.0))


def drawn(
    shape: tuple[int, ...], seed: int, subscripts: Subscripts
) -> tuple[GraphCase, TensorValue] | None:
    """Return a graph that indexes its input, and a tensor like the result."""
    found = indexed(random.Random(seed), ResultValue(0, -1, tensor(shape)), subscripts)
    if found is None:
        return None
    step, form = found
    return graph(tensor(shape), step, outputs=(1,)), form


def run(case: GraphCase) -> tuple[Any, Any]:
    """Return the first tensor and the result, as a worker computes it, with numpy."""
    _, _, encoded = case_to_json(case)
    worker_graph = Graph(encoded, Arrays(), None)
    function = worker_graph.function(encoded)
    return worker_graph.tensors[0], function(*worker_graph.tensors)


@given(shapes, st.integers(0, 1000))
def test_what_is_read_has_elements_and_the_expected_shape(
    shape: tuple[int, ...], seed: int
) -> None:
    made = drawn(shape, seed, replace(SUBSCRIPTS, assign=""))
    if made is None:
        return
    case, form = made

    _, result = run(case)

    assert result.shape == form.shape
    assert prod(form.shape) > 0
    assert case_from_json(case_to_json(case)) == case


@given(shapes, st.integers(0, 1000))
def test_an_assignment_changes_the_tensor_which_is_its_result(
    shape: tuple[int, ...], seed: int
) -> None:
    made = drawn(shape, seed, SUBSCRIPTS)
    (step,) = made[0].calls if made else (None,)
    if made is None or step is None or step.api == SUBSCRIPTS.read:
        return
    case, form = made

    given_tensor, result = run(case)

    assert form == tensor(shape)
    assert result is given_tensor
    assert changes_in_place(step)
    assert changes_tensors(case_to_json(case)[2])


def test_every_kind_of_index_is_drawn() -> None:
    seen: set[str] = set()
    for seed in range(300):
        made = drawn((3, 4), seed, SUBSCRIPTS)
        if made is not None:
            (step,) = made[0].calls
            index = step.arguments[1]
            assert isinstance(index, TupleValue)
            seen |= {kind_of(item) for item in index.items}
            seen.add(step.api.rpartition(".")[2])

    kinds = {"mask", "indices", "slice", "number", "new axis", "ellipsis"}
    assert seen == {*kinds, "__getitem__", "__setitem__"}


def kind_of(item: Value) -> str:
    match item:
        case TensorValue(dtype):
            return "mask" if dtype == "bool" else "indices"
        case CallValue():
            return "slice"
        case LiteralValue(value):
            return "new axis" if value is None else "number"
        case _:
            return "ellipsis"


def test_a_library_gets_only_what_it_takes() -> None:
    for seed in range(300):
        made = drawn((3, 4), seed, READ_ONLY)
        if made is None:
            continue
        (step,) = made[0].calls
        assert step.api == READ_ONLY.read
        assert not any(kind_of(item) in {"mask", "indices"} for item in indices(step))


def indices(step: ApiCall) -> tuple[Value, ...]:
    index = step.arguments[1]
    assert isinstance(index, TupleValue)
    return index.items


def test_torch_gets_no_negative_steps() -> None:
    operations = LIBRARIES.get("torch").operations
    assert operations.subscripts is not None
    for seed in range(300):
        made = drawn((5, 5), seed, operations.subscripts)
        (step,) = made[0].calls if made else (None,)
        for item in indices(step) if step else ():
            if isinstance(item, CallValue):
                step_size = item.arguments[2]
                assert isinstance(step_size, LiteralValue)
                assert step_size.value is None or int(str(step_size.value)) > 0


def test_a_number_is_not_indexed() -> None:
    assert indexed(random.Random(0), ResultValue(0, -1, tensor(())), SUBSCRIPTS) is None


def part(start: int | None, stop: int | None, step: int | None) -> CallValue:
    return CallValue(SLICE, tuple(map(LiteralValue, (start, stop, step))))


@pytest.mark.parametrize(
    ("items", "text"),
    [
        ((LiteralValue(-1),), "x0[-1]"),
        ((part(1, None, None), LiteralValue(None)), "x0[1:, None]"),
        ((MemberValue(ELLIPSIS), part(None, -1, 2)), "x0[..., :-1:2]"),
        ((TensorValue("int64", (1,), Explicit((1,))),), "x0[x1]"),
    ],
)
def test_a_script_indexes_as_a_program_does(items: tuple[Value, ...], text: str) -> None:
    index = TupleValue(items)
    read = ApiCall(api=SUBSCRIPTS.read, kind=CallKind.METHOD, arguments=(result_of(0), index))
    assign = ApiCall(
        api=SUBSCRIPTS.assign,
        kind=CallKind.METHOD,
        arguments=(result_of(0), index, LiteralValue(1.5)),
    )

    assert written(read) == [f"v1 = {text}"]
    assert written(assign) == [f"{text} = 1.5", "v1 = x0"]


def result_of(step: int) -> ResultValue:
    return ResultValue(step, -1, PAIR)


def written(step: ApiCall) -> list[str]:
    source = ScriptSource(writer=writer_of("torch"))
    lines = [line for text in source.steps((PAIR, step)) for line in text.splitlines()]
    ast.parse("\n".join(lines))
    return lines


def test_an_index_selects_from_the_tensor() -> None:
    first = TupleValue((LiteralValue(0),))
    read = ApiCall(api=SUBSCRIPTS.read, kind=CallKind.METHOD, arguments=(result_of(0), first))

    pair, result = run(graph(PAIR, read, outputs=(1,)))

    assert result == pair[0]
