from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING

import pytest
from campaign_examples import call

from ciguard.campaign.stages.enlarging import can_grow, climb, enlarged
from ciguard.domain.api_calls import ApiCall, CallKind
from ciguard.domain.values import Constant, Explicit, TensorValue, Uniform
from ciguard.oracles.relations import tensors_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from ciguard.domain.values import Fill

US = 1e-6


def tensor(*shape: int, fill: Fill | None = None) -> TensorValue:
    return TensorValue("float32", shape, fill or Uniform(1, 0.0, 1.0))


def of(*tensors: TensorValue) -> ApiCall:
    return replace(call(), arguments=tensors)


def shapes(case: ApiCall | None) -> list[tuple[int, ...]]:
    assert case is not None
    return [tensor.shape for tensor in tensors_of(case)]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ([(4,)], [(512,)]),
        ([(2, 3), (3, 4)], [(14, 21), (21, 28)]),
        ([(1, 4), (4,), ()], [(1, 512), (512,), ()]),
        ([(1, 1)], [(23, 23)]),
        ([(4, 0)], None),
        ([()], None),
        ([(300,)], None),
    ],
    ids=str,
)
def test_all_dimensions_grow_equally_except_broadcast_and_empty_ones(
    before: list[tuple[int, ...]], after: list[tuple[int, ...]] | None
) -> None:
    larger = enlarged(of(*(tensor(*shape) for shape in before)), 512)

    assert (larger and shapes(larger)) == after


def test_the_first_dimension_alone_grows_in_tensors_of_the_highest_rank() -> None:
    larger = enlarged(of(tensor(2, 3), tensor(3)), 600, only_first=True)

    assert shapes(larger) == [(200, 3), (3,)]


def test_tensors_with_explicit_elements_do_not_grow() -> None:
    written = tensor(2, fill=Explicit((1.0, 2.0)))

    assert enlarged(of(tensor(4), written), 512) is None
    assert enlarged(of(tensor(4, fill=Constant(1.0))), 512) is not None


def test_a_call_with_an_out_argument_does_not_grow() -> None:
    plain = of(tensor(4))

    assert can_grow(plain)
    assert not can_grow(replace(plain, keywords=(("out", tensor(4)),)))
    assert not can_grow(call())


def climbed(
    case: ApiCall, cost_s: Callable[[ApiCall], float | None]
) -> tuple[list[ApiCall], tuple[ApiCall, float] | None]:
    steps = climb(case)
    tried = [next(steps)]
    while True:
        try:
            tried.append(steps.send(cost_s(tried[-1])))
        except StopIteration as end:
            return tried, end.value


def elements(case: ApiCall) -> int:
    return max(prod(shape) for shape in shapes(case))


def test_a_climb_ends_when_a_call_takes_long_enough() -> None:
    tried, best = climbed(of(tensor(4)), lambda case: elements(case) * US / 50)

    assert [elements(case) for case in tried] == [4, 2**9, 2**12]
    assert best == (tried[-1], 2**12 * US / 50)


def test_a_climb_ends_before_a_call_takes_too_long() -> None:
    tried, best = climbed(of(tensor(4)), lambda case: elements(case) ** 3 * 3e-13)

    assert elements(tried[-1]) == 2**12
    assert best is not None
    assert elements(best[0]) == 2**9


def test_the_first_dimension_grows_if_not_all_may() -> None:
    layer = replace(call(), kind=CallKind.LAYER, inputs=(tensor(2, 3),))

    _, best = climbed(layer, lambda case: US if shapes(case)[0][1] == 3 else None)

    assert best is not None
    assert shapes(best[0]) == [(2 * round(2**15 / 3), 3)]


def test_a_call_that_cannot_grow_is_unchanged() -> None:
    assert climbed(call(), lambda _: US) == ([call()], (call(), US))


def test_a_failing_call_is_not_measured() -> None:
    assert climbed(of(tensor(4)), lambda _: None) == ([of(tensor(4))], None)
