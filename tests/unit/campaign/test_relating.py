from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from campaign_examples import ONE, call, group, member

from ciguard.campaign.relating import RelationChooser
from ciguard.domain.api_calls import CallKind, as_call
from ciguard.domain.intent import Intent
from ciguard.domain.values import Special, TensorValue, Uniform
from ciguard.levels import Batch
from ciguard.oracles.relations.repetition import REPETITION
from ciguard.oracles.relations.unchanged_arguments import UNCHANGED_ARGUMENTS

if TYPE_CHECKING:
    import pytest

API = "planted.double"
COUNT = 40


def batch(**changes: object) -> Batch:
    value = TensorValue("float32", (2,), Uniform(1, 0.0, 1.0))
    settings: dict[str, Any] = {"arguments": (value,), **changes}
    cases = [replace(call("double", n), **{**settings, "seed": n}) for n in range(COUNT)]
    return Batch(api=API, kind=CallKind.FUNCTION, cases=tuple(cases))


def relating(*globs: str) -> RelationChooser:
    return RelationChooser(group(member(ONE, API)), globs or ("*",))


def test_a_quarter_of_the_conforming_calls_gets_a_relation() -> None:
    related = relating().related(batch())

    tried = [case for case in related.cases if case.relation]
    assert len(tried) == COUNT // 4
    assert {replace(as_call(case), relation="") for case in related.cases} == set(batch().cases)


def test_each_relation_of_an_api_has_its_turn() -> None:
    related = relating().related(batch())

    assert {case.relation for case in related.cases} == {
        "",
        "same call twice",
        "arguments stay as they are",
    }


def test_a_relation_that_applies_to_few_calls_is_chosen_more_often(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first, second = REPETITION, UNCHANGED_ARGUMENTS
    heavy = replace(second, weight=3)
    monkeypatch.setattr("ciguard.campaign.relating.relations_of", lambda *_: (first, heavy))

    related = relating().related(batch())

    names = Counter(case.relation for case in related.cases)
    assert (names[first.name], names[second.name]) == (3, 7)


def test_the_same_batch_gets_the_same_relations() -> None:
    assert relating().related(batch()) == relating().related(batch())


def test_violating_calls_get_no_relation() -> None:
    assert relating().related(batch(intent=Intent.BOUNDARY)) == batch(intent=Intent.BOUNDARY)


def test_calls_with_special_elements_get_no_relation() -> None:
    special = TensorValue("float32", (2,), Special(1))

    assert relating().related(batch(arguments=(special,))) == batch(arguments=(special,))


def test_calls_with_special_elements_get_relations_that_hold_for_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    unconditional = replace(UNCHANGED_ARGUMENTS, holds_for_special_elements=True)
    monkeypatch.setattr(
        "ciguard.campaign.relating.relations_of", lambda *_: (REPETITION, unconditional)
    )
    special = TensorValue("float32", (2,), Special(1))

    for changes in ({"arguments": (special,)}, {"intent": Intent.SPECIAL}):
        names = Counter(case.relation for case in relating().related(batch(**changes)).cases)
        assert names == {"": COUNT * 3 // 4, unconditional.name: COUNT // 4}


def test_globs_choose_the_relations() -> None:
    related = relating("same*").related(batch())

    assert {case.relation for case in related.cases} == {"", "same call twice"}


def test_an_api_without_a_record_gets_no_relation() -> None:
    unknown = replace(batch(), api="planted.unheard_of")

    assert relating().related(unknown) == unknown
