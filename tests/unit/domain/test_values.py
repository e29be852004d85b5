from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest

from ciguard.domain.values import Constant, Explicit, LiteralValue

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.mark.parametrize("make", [Constant, LiteralValue, lambda number: Explicit((1.0, number))])
def test_equal_values_with_nan_are_equal(make: Callable[[float], object]) -> None:
    first, second = make(float("nan")), make(-float("nan"))

    assert first == second
    assert len({first, second}) == 1
    assert first != make(math.inf)


def test_values_of_different_types_are_not_equal() -> None:
    assert Constant(1.0) != LiteralValue(1.0)
    assert LiteralValue("nan") != LiteralValue(math.nan)
