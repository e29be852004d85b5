"""Which defects are planted into which calls, and when the oracles notice them."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from campaign_examples import ONE, TWO, call, group, member, record

from ciguard.campaign.detecting import (
    choose_defects,
    encode_planted,
    is_unplantable,
    notices,
    sampled_apis,
)
from ciguard.campaign.judged_calls import JudgedCall, SampledCalls
from ciguard.config import Config
from ciguard.domain.api_calls import CallKind
from ciguard.domain.detection import COSTS, DefectKind, PlantedDefect
from ciguard.domain.outcomes import Crashed, Passed, Rejected, Stage
from ciguard.domain.policy import Policy
from ciguard.domain.shards import Shard
from ciguard.domain.values import TensorValue, Uniform

NUMBER = b'["i","1"]'
CALL = call("double", 3)
REJECTED = Rejected("ValueError", "no")
RECORDS = [record(f"planted.f{number}") for number in range(40)]


def judged(**outcomes: Passed | Rejected) -> JudgedCall:
    names = {"one": ONE, "two": TWO}
    return JudgedCall(CALL, {names[name]: outcome for name, outcome in outcomes.items()})


def test_most_sampled_apis_are_in_focus_and_the_seed_decides() -> None:
    config = Config(focus=("planted.f1*",), seed=3)

    apis = sampled_apis(config, RECORDS, 10)

    assert len(set(apis)) == 10
    assert sum(api.startswith("planted.f1") for api in apis) == 7
    assert apis == sampled_apis(config, RECORDS, 10)
    assert apis != sampled_apis(replace(config, seed=4), RECORDS, 10)
    assert len(sampled_apis(Config(api=("planted.f2",)), RECORDS, 10)) == 1


def test_a_shard_samples_its_own_apis() -> None:
    shards = [Config(shard=Shard(index, 3)) for index in (1, 2, 3)]

    sampled = [sampled_apis(config, RECORDS, 40) for config in shards]

    assert sorted(api for apis in sampled for api in apis) == sorted(r.api for r in RECORDS)
    names = [record.api for record in RECORDS]
    assert [set(apis) for apis in sampled] == [config.shard.select(names) for config in shards]


def test_a_called_api_gets_a_defect_that_its_calls_can_show() -> None:
    sampled = SampledCalls(("planted.rejecting", "planted.number", "planted.uncalled"))
    sampled.keep(replace(CALL, api="planted.rejecting"), {ONE: REJECTED})
    sampled.keep(replace(CALL, api="planted.number"), {ONE: Passed(NUMBER, 0.0)})

    chosen = choose_defects(sampled, seed=0)

    by_api = {defect.api: defect.kind for defect in chosen}
    assert by_api["planted.rejecting"] in {DefectKind.EXCEPTION, DefectKind.ACCEPTANCE}
    assert "planted.number" not in by_api  # no tensor, no keyword, no rejection
    assert "planted.uncalled" in by_api


def test_the_kinds_are_chosen_in_their_shares() -> None:
    sampled = SampledCalls(tuple(f"planted.f{number}" for number in range(50)))
    tensor, nan = (b'["T","float32",[1],"%s"]' % text for text in (b"AACAPw==", b"AADAfw=="))
    argument = TensorValue("float32", (2,), Uniform(0, 0.0, 1.0))
    for api in sampled.apis:
        case = replace(CALL, api=api, arguments=(argument,), keywords=(("by", argument),))
        sampled.keep(case, {ONE: Passed(tensor, 0.0)})
        sampled.keep(case, {ONE: Passed(nan, 0.0)})
        sampled.keep(case, {ONE: REJECTED})

    kinds = [defect.kind for defect in choose_defects(sampled, seed=0)]
    with_costs = choose_defects(sampled, seed=0, measurable=sampled.apis[:25])

    assert kinds.count(DefectKind.VALUE) == 8
    assert kinds.count(DefectKind.CRASH) == 8
    assert set(kinds) == set(DefectKind) - COSTS
    assert {defect.kind for defect in with_costs} == set(DefectKind)
    assert {defect.api for defect in with_costs if defect.kind in COSTS} <= {*sampled.apis[:25]}


def test_a_method_is_planted_as_a_function_of_its_receiver() -> None:
    defect = PlantedDefect(DefectKind.VALUE, "planted.double")

    api, kind, ((name, detail), case) = json.loads(
        encode_planted(replace(CALL, kind=CallKind.METHOD), defect, "by")
    )

    assert (api, kind, name, detail) == ("planted.double", "planted", "values", "by")
    assert case[:2] == ["planted.double", "function"]


@pytest.mark.parametrize(
    ("kind", "outcome", "is_noticed"),
    [
        (DefectKind.CRASH, Crashed("SIGSEGV"), True),
        (DefectKind.VALUE, Crashed("SIGSEGV"), False),
        (DefectKind.VALUE, Passed(NUMBER, 0.0), False),
        (DefectKind.ACCEPTANCE, Rejected("ValueError", "no"), False),
    ],
)
def test_a_defect_is_noticed_by_findings_of_its_kind(
    kind: DefectKind, outcome: Crashed | Passed | Rejected, *, is_noticed: bool
) -> None:
    subject = group(member(ONE, "planted.double")).subject("planted.double")
    defect = PlantedDefect(kind, "planted.double")

    noticed = notices(judged(one=Passed(NUMBER, 0.0)), {ONE: outcome}, defect, subject, Policy())

    assert noticed is is_noticed


def test_a_second_target_shows_what_a_single_one_hides() -> None:
    subject = group(member(ONE, "planted.double"), member(TWO, "planted.double")).subject(
        "planted.double"
    )
    both = judged(one=REJECTED, two=REJECTED)
    defect = PlantedDefect(DefectKind.EXCEPTION, "planted.double")
    planted = {TWO: Rejected("RuntimeError", "no")}

    assert notices(both, planted, defect, subject, Policy())
    assert not notices(judged(two=REJECTED), planted, defect, subject, Policy())


def test_what_a_library_cannot_have_is_told_from_a_rejection() -> None:
    assert is_unplantable(Rejected("UnplantableError", "", Stage.BUILD))
    assert not is_unplantable(Rejected("UnplantableError", "", Stage.CALL))
    assert not is_unplantable(REJECTED)
