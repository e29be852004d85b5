"""Which judged calls are kept, and in which order a defect is planted into them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from campaign_examples import ONE, call

from ciguard.campaign.judged_calls import JudgedCall, SampledCalls, calls_to_try
from ciguard.domain.detection import DefectKind
from ciguard.domain.outcomes import Passed, Rejected
from ciguard.domain.values import Constant, LiteralValue, Special, TensorValue, Uniform

if TYPE_CHECKING:
    from ciguard.domain.api_calls import ApiCall

NUMBER = Passed(b'["i","1"]', 0.0)
NAN = Passed(b'["T","float32",[1],"AADAfw=="]', 0.0)
REJECTED = Rejected("ValueError", "no")
API = "planted.double"
PLAIN = call("double", 3)
KEYWORD = replace(PLAIN, keywords=(("by", PLAIN.arguments[0]),))
GRADIENT = replace(PLAIN, relation="numeric gradient")


def tensor(shape: tuple[int, ...], fill: Constant | Special | Uniform) -> JudgedCall:
    case = replace(PLAIN, arguments=(TensorValue("float32", shape, fill),))
    return JudgedCall(case, {ONE: NUMBER})


def test_a_call_with_large_results_is_not_kept() -> None:
    sampled = SampledCalls((API,))

    sampled.keep(PLAIN, {ONE: Passed(b"x" * (1 << 17), 0.0)})

    assert sampled.calls[API] == []


@pytest.mark.parametrize(
    ("rare", "outcome", "count"),
    [
        (KEYWORD, NUMBER, 4),
        (GRADIENT, NUMBER, 12),
        (PLAIN, REJECTED, 12),
        (tensor((2,), Special(0)).call, NAN, 12),
        (replace(PLAIN, keywords=(("by", LiteralValue("mean")),)), NUMBER, 4),
        (tensor((0,), Uniform(0, 0.0, 1.0)).call, NUMBER, 12),
    ],
)
def test_calls_that_are_unlike_the_first_ones_are_kept(
    rare: ApiCall, outcome: Passed | Rejected, count: int
) -> None:
    sampled = SampledCalls((API,))

    for _ in range(1000):
        sampled.keep(PLAIN, {ONE: NUMBER})
    for _ in range(1000):
        sampled.keep(rare, {ONE: outcome})

    assert len(sampled.calls[API]) == 24 + count
    assert sampled.calls[API][-1] == JudgedCall(rare, {ONE: outcome})


def test_the_number_of_calls_is_limited() -> None:
    sampled = SampledCalls((API,))

    for number in range(1000):
        other = replace(PLAIN, keywords=((f"by{number}", PLAIN.arguments[0]),))
        sampled.keep(other, {ONE: NUMBER})
    assert len(sampled.calls[API]) == 96
    for _ in range(1000):
        sampled.keep(GRADIENT, {ONE: NUMBER})
    assert len(sampled.calls[API]) == 96 + 12
    for _ in range(1000):
        sampled.keep(replace(PLAIN, relation="into out"), {ONE: NUMBER})
    assert len(sampled.calls[API]) == 96 + 12 + 4


@pytest.mark.parametrize(
    ("kind", "detail", "likely"),
    [
        (DefectKind.GRADIENT, "", JudgedCall(GRADIENT, {ONE: NUMBER})),
        (DefectKind.IGNORED, "by", JudgedCall(KEYWORD, {ONE: NUMBER})),
        (DefectKind.ACCEPTANCE, "", JudgedCall(PLAIN, {ONE: REJECTED})),
        (DefectKind.EXCEPTION, "", JudgedCall(PLAIN, {ONE: REJECTED})),
        (DefectKind.NAN, "", JudgedCall(PLAIN, {ONE: NAN})),
        (DefectKind.CRASH, "no elements", tensor((2, 0), Uniform(0, 0.0, 1.0))),
        (DefectKind.CRASH, "no axes", tensor((), Uniform(0, 0.0, 1.0))),
        (DefectKind.CRASH, "infinity", tensor((2,), Constant(float("-inf")))),
        (DefectKind.CRASH, "infinity", tensor((2,), Special(0))),
    ],
)
def test_calls_that_are_likely_to_show_a_defect_come_first(
    kind: DefectKind, detail: str, likely: JudgedCall
) -> None:
    others = [JudgedCall(PLAIN, {ONE: NUMBER}), tensor((2,), Uniform(0, 0.0, 1.0))]

    assert calls_to_try([*others, likely], kind, detail) == [likely, *others]


def test_few_of_the_calls_that_are_unlikely_to_show_a_defect_are_tried() -> None:
    plain, rejected = JudgedCall(PLAIN, {ONE: NUMBER}), JudgedCall(PLAIN, {ONE: REJECTED})

    tried = calls_to_try([plain, rejected] * 48, DefectKind.ACCEPTANCE, "")

    assert tried == [rejected] * 40 + [plain] * 8


def test_calls_with_and_without_a_relation_alternate() -> None:
    plain = JudgedCall(PLAIN, {ONE: NUMBER})
    related = JudgedCall(replace(PLAIN, relation="into out"), {ONE: NUMBER})
    other = JudgedCall(replace(PLAIN, relation="in place"), {ONE: NUMBER})

    tried = calls_to_try([*[plain] * 24, related, related, other], DefectKind.VALUE, "")

    assert tried[:7] == [plain, related, plain, other, plain, related, plain]
    assert len(tried) == 27
