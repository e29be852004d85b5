"""Batches and calls of level `api`."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest
from api_records import (
    ADD_METHOD,
    ALL,
    CONV1D_LAYER,
    CONV2D_OP,
    DELETE_FILE,
    SPREAD,
    SUM,
)
from campaign_examples import ONE, TWO, group, member
from hypothesis import given
from hypothesis import strategies as st

from ciguard.campaign import RunnableLevel, StreamFactory
from ciguard.config import Config
from ciguard.domain.api_calls import ApiCall, CallKind, as_call
from ciguard.domain.case import case_from_json, case_to_json
from ciguard.domain.intent import Intent
from ciguard.domain.records import record_from_json
from ciguard.domain.values import Explicit, ListValue, LiteralValue, TensorValue, TupleValue
from ciguard.errors import RegistrationError
from ciguard.knowledge import understand
from ciguard.levels import EXCLUDED_TAGS, LEVELS, Level, excluded_by_tag, select
from ciguard.levels.api.call_mix import TO_DIFFER
from ciguard.levels.api.level import ApiLevel
from ciguard.levels.api.spec import LEVEL, CallLevel
from ciguard.values import SamplingScope
from ciguard.values.check import problem

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from ciguard.campaign import Stream
    from ciguard.domain.events import Event
    from ciguard.domain.records import ApiRecord
    from ciguard.execution import Dispatcher
    from ciguard.levels.api.spec import LevelFactory


def _calls(*records: object, count: int = 200, seed: int = 0) -> list[ApiCall]:
    level = ApiLevel(records, seed)  # type: ignore[arg-type]
    return [as_call(case) for index in range(count) for case in level.cases(index).cases]


def test_the_level_is_registered_and_implements_the_protocol() -> None:
    assert isinstance(LEVELS.get("api"), RunnableLevel)
    assert isinstance(ApiLevel(ALL, 0), Level)


def test_a_second_level_with_the_same_name_is_an_error() -> None:
    with pytest.raises(RegistrationError, match="registered twice"):
        LEVELS.register("api", CallLevel("api", ApiLevel))


def test_a_batch_contains_cases_of_one_api() -> None:
    batch = ApiLevel(ALL, 1).cases(3)

    assert {case.api for case in batch.cases} == {batch.api}
    assert {as_call(case).kind for case in batch.cases} == {batch.kind}


@given(st.integers(0, 2**32), st.integers(0, 500))
def test_a_batch_depends_only_on_seed_and_index(seed: int, index: int) -> None:
    busy = ApiLevel(ALL, seed)
    for earlier in (index + 7, 0, index):
        busy.cases(earlier)

    assert repr(busy.cases(index)) == repr(ApiLevel(ALL, seed).cases(index))


def test_other_seeds_and_indices_yield_other_cases() -> None:
    level = ApiLevel((SUM,), 0)

    batches = [level.cases(0), level.cases(1), ApiLevel((SUM,), 1).cases(0)]

    assert len({repr(batch) for batch in batches}) == 3


def test_every_api_occurs_once_per_round_in_another_order() -> None:
    level = ApiLevel(ALL, 5)

    rounds = [
        [level.cases(turn * len(ALL) + place).api for place in range(len(ALL))] for turn in range(4)
    ]

    assert all(sorted(order) == sorted(record.api for record in ALL) for order in rounds)
    assert len({tuple(order) for order in rounds}) > 1


def test_a_level_without_apis_is_an_error() -> None:
    with pytest.raises(ValueError, match="no API to call"):
        ApiLevel((), 0)


def test_every_case_survives_its_json_form() -> None:
    for case in _calls(*ALL, count=60):
        assert repr(case_from_json(case_to_json(case))) == repr(case)


def test_a_conforming_call_satisfies_every_constraint() -> None:
    for record in ALL:
        api = understand(record)
        constraints = {p.name: p.constraint for p in (*api.parameters, *api.inputs)}
        for case in _calls(record, count=12):
            if case.intent is not Intent.CONFORMING or record is SPREAD:
                continue
            scope = SamplingScope()
            names = [p.name for p in api.parameters]
            scope.values.update(zip(names, case.arguments, strict=False))
            scope.values.update(case.keywords)
            inputs = [p.name for p in api.inputs]
            scope.values.update(zip(inputs, case.inputs, strict=True))
            for name, value in scope.values.items():
                assert problem(value, constraints[name], scope) == "", (record.api, name)


def test_the_first_batches_of_an_api_are_small() -> None:
    level = ApiLevel((SUM, CONV2D_OP), 0)

    assert [len(level.visit(SUM.api, number).cases) for number in range(4)] == [4, 16, 64, 64]


def test_the_mix_has_conforming_boundary_and_later_violating_calls() -> None:
    first = Counter(
        case.intent for seed in range(125) for case in ApiLevel((SUM,), seed).cases(0).cases
    )
    later = Counter(case.intent for case in ApiLevel((SUM,), 0, sizes=(2000,)).cases(9).cases)

    assert first[Intent.VIOLATING] == 0
    assert 0.1 < first[Intent.CONFORMING] / 500 < 0.4
    assert min(later[intent] for intent in Intent if intent is not Intent.SPECIAL) > 15
    assert later[Intent.SPECIAL] > 3


def test_a_special_call_conforms_but_for_one_element() -> None:
    fills = [
        value.fill
        for case in _calls(SUM, CONV2D_OP)
        if case.intent is Intent.SPECIAL
        for value in (*case.arguments, *(value for _, value in case.keywords))
        if isinstance(value, TensorValue)
    ]

    explicit = [fill for fill in fills if isinstance(fill, Explicit)]
    special = [[x for x in fill.data if not math.isfinite(x)] for fill in explicit]
    assert len(special) > 20
    assert max(map(len, special)) == 1


def test_only_mutated_calls_have_a_focus() -> None:
    for case in _calls(SUM, CONV2D_OP):
        assert bool(case.focus) == (case.intent is not Intent.CONFORMING)


def test_required_parameters_are_always_passed_and_optional_ones_sometimes() -> None:
    given_names = [{key for key, _ in case.keywords} for case in _calls(SUM, count=30)]

    assert all(len(case.arguments) == 1 for case in _calls(SUM, count=30))
    share = sum("keepdim" in names for names in given_names) / len(given_names)
    assert 0.1 < share < 0.5


def test_operators_defined_by_tensorflow_are_called_with_keywords_only() -> None:
    for case in _calls(CONV2D_OP, count=20):
        assert case.arguments == ()
        assert [key for key, _ in case.keywords][:4] == ["input", "filter", "strides", "padding"]
        assert "name" not in dict(case.keywords)


def test_the_first_argument_of_a_method_is_a_tensor() -> None:
    conforming = [c for c in _calls(ADD_METHOD, count=20) if c.intent is Intent.CONFORMING]

    assert conforming
    assert all(isinstance(case.arguments[0], TensorValue) for case in conforming)


def test_variadic_arguments_are_passed_by_position() -> None:
    cases = _calls(SPREAD, count=20)

    assert any(len(case.arguments) > 1 for case in cases)
    assert all("size" not in dict(case.keywords) for case in cases)
    conforming = [case for case in cases if case.intent is Intent.CONFORMING]
    assert not any(
        isinstance(value, ListValue | TupleValue) for c in conforming for value in c.arguments
    )


def test_a_layer_gets_the_channels_it_was_built_for() -> None:
    conforming = [c for c in _calls(CONV1D_LAYER, count=20) if c.intent is Intent.CONFORMING]

    for case in conforming:
        image = case.inputs[0]
        assert isinstance(image, TensorValue)
        assert len(image.shape) == 3
        assert case.arguments[0] == LiteralValue(image.shape[1])


def test_inputs_of_layers_are_mutated_too() -> None:
    focuses = {case.focus for case in _calls(CONV1D_LAYER, count=20)}

    assert {"in_channels", "input:input"} <= focuses


def test_an_optional_argument_before_variadic_ones_is_positional_or_absent() -> None:
    mixed = replace(SPREAD, parameters=(*SUM.parameters[1:2], *SPREAD.parameters))

    for case in _calls(mixed, count=20):
        assert "dim" not in dict(case.keywords)


def test_selection_excludes_calls_with_outside_effects() -> None:
    assert DELETE_FILE not in select(ALL)
    assert DELETE_FILE in select(ALL, allow=("files",))
    assert "random" not in EXCLUDED_TAGS


def test_each_excluded_api_is_counted_once() -> None:
    tagged = [
        replace(SUM, api=f"torch.f{n}", tags=frozenset(tags))
        for n, tags in enumerate(
            (["files", "network"], ["network"], ["files", "random"], ["random"])
        )
    ]

    assert excluded_by_tag(tagged) == {"files": 2, "network": 1}
    assert list(excluded_by_tag(reversed(tagged))) == ["files", "network"]
    assert excluded_by_tag(tagged, ("torch.*",), ("*.f0",), allow=("network",)) == {"files": 1}


def test_selection_keeps_the_apis_that_globs_match() -> None:
    assert select(ALL, ("torch.*",), ("*.nn.*",)) == (SUM, ADD_METHOD, SPREAD)
    assert select(ALL, ()) == ()


def test_the_kind_of_the_record_is_the_kind_of_its_calls() -> None:
    kinds = {case.api: case.kind for case in _calls(*ALL, count=12)}

    assert kinds["torch.nn.Conv1d"] is CallKind.LAYER
    assert kinds["torch.Tensor.add_"] is CallKind.METHOD


def test_an_output_argument_with_an_undocumented_default_is_rarely_passed() -> None:
    out = {"name": "out", "kind": "keyword_only", "annotation": "Optional[Tensor]"}
    record = record_from_json(
        {
            "api": "torch.log2",
            "kind": "function",
            "source": "docstring",
            "parameters": [{"name": "input", "schema_type": "Tensor"}, out],
        }
    )

    calls = [case for case in _calls(record) if case.intent is Intent.CONFORMING]

    assert 0 < sum("out" in dict(case.keywords) for case in calls) < len(calls) / 4


def test_calls_for_several_backends_are_mostly_comparable_from_the_first_round_on() -> None:
    level = ApiLevel([SUM], 0, mixes=TO_DIFFER)
    first = [ApiLevel([SUM], seed, mixes=TO_DIFFER).cases(0).cases for seed in range(50)]
    later = [level.cases(index).cases for index in range(1, 20)]

    for batches in (first, later):
        intents = Counter(as_call(case).intent for cases in batches for case in cases)
        comparable = intents[Intent.CONFORMING] + intents[Intent.SPECIAL]
        assert comparable > 0.4 * intents.total()
        assert intents[Intent.SPECIAL] > 0.05 * intents.total()


@pytest.mark.parametrize(
    ("engines", "expected"),
    [
        (("",), "usual"),
        (("", ""), "several"),
        (("", "jax"), "backends"),
        (("jax", "jax"), "compiled"),
    ],
)
def test_backends_compiled_calls_and_several_targets_have_levels_of_their_own(
    engines: tuple[str, ...], expected: str
) -> None:
    made: list[str] = []

    def making(name: str) -> LevelFactory:
        def make(records: Sequence[ApiRecord], seed: int) -> ApiLevel:
            made.append(name)
            return ApiLevel(records, seed)

        return make

    names = (ONE, TWO)[: len(engines)]
    tested = group(*(member(name, SUM.api) for name in names))
    for engine, of_engine in zip(engines, tested.members.values(), strict=True):
        if engine:
            of_engine.identity = replace(of_engine.identity, engine=engine)
    factory = StreamFactory(
        config=Config(out=Path("out")),
        groups={"planted": tested},
        dispatcher=cast("Dispatcher", None),
        lanes=1,
    )
    level = CallLevel(
        "api",
        making("usual"),
        between_backends=making("backends"),
        if_compiled=making("compiled"),
        side_by_side=making("several"),
    )

    streams: list[Stream] = []

    def collected() -> Generator[Event, None, None]:
        streams.extend((yield from level.streams(factory)))

    list(collected())
    (stream,) = streams

    assert made == [expected]
    # Results of backends are compared instead.
    assert (stream.relating is None) == (expected == "backends")


def test_an_api_whose_calls_are_compiled_is_called_once_at_first() -> None:
    tested = group(member(ONE, SUM.api))
    tested.members[ONE].identity = replace(tested.members[ONE].identity, engine="jax")

    level = LEVEL.factory_for(tested)([SUM], 0)

    assert [len(level.visit(SUM.api, number).cases) for number in range(5)] == [1, 4, 16, 64, 64]
