"""Batches of mutants depend on seed, index and feedback, which survives JSON."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from model_graphs import MODELS

from ciguard.domain.api_calls import CallKind
from ciguard.domain.models import Check, DataSample, ModelCase
from ciguard.domain.outcomes import Hung, Passed, Rejected
from ciguard.domain.records import ApiRecord
from ciguard.domain.values import Explicit, Json
from ciguard.levels import Batch, IndexedLevel
from ciguard.levels.model.feedback import ModelFeedback
from ciguard.levels.model.kinds import KINDS
from ciguard.levels.model.layers import elements
from ciguard.levels.model.level import MUTANTS_PER_BATCH, SAMPLE_COUNT, ModelLevel

if TYPE_CHECKING:
    from ciguard.domain.outcomes import Outcome

PASSED = Passed(b"", 0.1)


def level(seed: int = 5) -> ModelLevel:
    return ModelLevel((), seed, models=MODELS)


def outcomes_of(batch: Batch) -> dict[str, list[Outcome]]:
    return {"one": [PASSED for _ in batch.cases], "two": [PASSED for _ in batch.cases]}


def run(
    model_level: ModelLevel, count: int, *, lag: int = 3, through_json: bool = False
) -> list[Batch]:
    """Run batches; the feedback of a batch is applied `lag` batches later."""
    pending: list[Json] = []
    batches = []
    for index in range(count):
        while pending and ModelFeedback.from_json(pending[0]).index <= index - lag:
            feedback = pending.pop(0)
            if through_json:
                feedback = json.loads(json.dumps(feedback))
            model_level.update(feedback)
        batches.append(model_level.cases(index))
        new_feedback = model_level.feedback(index, batches[-1], outcomes_of(batches[-1]))
        assert new_feedback is not None
        pending.append(new_feedback)
    return batches


def test_the_first_batches_are_the_unchanged_seeds() -> None:
    batches = [level().cases(index) for index in range(len(MODELS))]

    for batch, model in zip(batches, MODELS, strict=True):
        checks = [case.check for case in batch.cases if isinstance(case, ModelCase)]
        assert checks == [Check.PREDICT, Check.TRAIN, Check.SAVE]
        assert {json.dumps(case.graph == model.graph) for case in models_in(batch)} == {"true"}


def models_in(batch: Batch) -> list[ModelCase]:
    return [case for case in batch.cases if isinstance(case, ModelCase)]


def test_batches_depend_on_seed_index_and_feedback() -> None:
    assert run(level(), 30) == run(level(), 30, through_json=True)
    assert run(level(), 12) != run(level(6), 12)


def test_making_a_batch_does_not_change_others() -> None:
    plain, busy = level(), level()
    for index in (9, 4, 9, 20):
        busy.cases(index)

    assert run(plain, 12) == run(busy, 12)


def test_mutants_of_one_seed_share_inputs_and_truth() -> None:
    data_of_seed: dict[str, set[str]] = {}
    for batch in run(level(), 40)[len(MODELS) :]:
        assert len(batch.cases) == MUTANTS_PER_BATCH
        assert len({case.origin.model for case in models_in(batch)}) == 1
        for case in models_in(batch):
            data_of_seed.setdefault(case.origin.model, set()).add(repr((case.data, case.truth)))

    assert {name: len(texts) for name, texts in data_of_seed.items()} == {"lenet": 1, "lstm": 1}


def test_labels_are_one_hot() -> None:
    case = models_in(level().cases(0))[0]
    fill = case.truth.fill

    assert case.truth.shape == (SAMPLE_COUNT, 10)
    assert isinstance(fill, Explicit)
    rows = [fill.data[index : index + 10] for index in range(0, elements(case.truth.shape), 10)]
    assert all(sorted(row) == [0.0] * 9 + [1.0] for row in rows)
    assert isinstance(case.data[0], DataSample)
    assert case.data[0].shape == (SAMPLE_COUNT, 8, 8, 1)


def test_mutants_become_parents_and_their_mutations_add_up() -> None:
    model_level = level()
    batches = run(model_level, 60)

    orders = [len(case.origin.mutations) for batch in batches for case in models_in(batch)]
    assert max(orders) >= 3
    assert len(model_level.pools) > len(MODELS)


def test_checks_are_mostly_predictions() -> None:
    checks = [case.check for batch in run(level(), 80)[2:] for case in models_in(batch)]

    assert 0.15 < checks.count(Check.TRAIN) / len(checks) < 0.35
    assert 0.01 < checks.count(Check.SAVE) / len(checks) < 0.15


def test_a_mutant_that_fewer_than_two_targets_run_joins_no_pool() -> None:
    model_level = level()
    batch = model_level.cases(2)
    refused: list[Outcome] = [Rejected("ValueError", "no") for _ in batch.cases]

    feedback = model_level.feedback(2, batch, {**outcomes_of(batch), "two": refused})

    mutants = ModelFeedback.from_json(feedback).mutants
    model_level.update(feedback)
    assert len(model_level.pools) == len(MODELS)
    assert {mutant.graph for mutant in mutants} == {None}


@pytest.mark.slow
def test_hanging_layers_are_excluded() -> None:
    model_level, lag = level(), 6
    seeds = {node.layer for model in MODELS for node in model.graph.nodes}
    crashing = {kind.public for kind in KINDS[::4]} - seeds
    mutant_counts: Counter[str] = Counter()
    pending: dict[int, Json] = {}
    for index in range(500):
        if index - lag in pending:
            model_level.update(pending.pop(index - lag))
        batch = model_level.cases(index)
        hanging = [{n.layer for n in case.graph.nodes} & crashing for case in models_in(batch)]
        # Cases after a hang in the same batch do not run.
        count = next((index + 1 for index, hangs in enumerate(hanging) if hangs), len(hanging))
        mutant_counts.update(layer for hangs in hanging[:count] for layer in hangs)
        outcomes: list[Outcome] = [Hung(60.0) if hangs else PASSED for hangs in hanging[:count]]
        feedback = model_level.feedback(index, batch, {"one": outcomes, "two": [PASSED] * count})
        if feedback is not None:
            pending[index] = feedback

    assert len(mutant_counts) > 10
    assert max(mutant_counts.values()) <= 2 + lag
    assert sum(count > 1 for count in mutant_counts.values()) > 5


def test_a_hanging_seed_model_is_no_longer_mutated() -> None:
    model_level = level()
    for index in range(len(MODELS)):
        batch = model_level.cases(index)
        outcomes = outcomes_of(batch)
        if index == 0:
            outcomes = {"one": [Hung(60.0)], "two": [PASSED]}
        feedback = model_level.feedback(index, batch, outcomes)
        assert feedback is not None
        model_level.update(feedback)

    seeds = {case.origin.model for i in range(2, 40) for case in models_in(model_level.cases(i))}
    assert seeds == {model.name for model in MODELS[1:]}


def test_each_of_many_hanging_seed_models_gives_feedback_beside_a_battery() -> None:
    models = [replace(MODELS[number % 2], name=f"seed {number}") for number in range(12)]
    battery = models_in(level().cases(0)) * 30
    model_level = ModelLevel((), 5, models=models, battery=battery)

    for index in range(len(models)):
        hung: dict[str, list[Outcome]] = {"one": [Hung(60.0)], "two": [PASSED]}
        feedback = model_level.feedback(index, model_level.cases(index), hung)
        assert feedback is not None
        model_level.update(feedback)

    assert len(model_level.pools) == 1, "the last seed stays"


@pytest.mark.parametrize("layer", [kind.public for kind in KINDS])
@pytest.mark.lengthy
def test_a_universe_of_one_layer_is_enough(layer: str) -> None:
    """Globs may leave a single layer, so that some rules never apply."""
    record = ApiRecord(api=layer, kind=CallKind.LAYER, parameters=())
    narrow = ModelLevel((record,), 5, models=MODELS)

    for index in range(len(MODELS), 30):
        assert len(narrow.cases(index).cases) <= MUTANTS_PER_BATCH


def test_the_level_implements_the_protocol() -> None:
    assert isinstance(level(), IndexedLevel)
    with pytest.raises(ValueError, match="no seed model"):
        ModelLevel((), 1, models=())


@pytest.mark.parametrize("text", [[], [1], ["x", []], [1, [{}]], {"a": 1}])
def test_invalid_feedback_is_an_error(text: object) -> None:
    with pytest.raises(ValueError, match="not that of level `model`"):
        ModelFeedback.from_json(text)
