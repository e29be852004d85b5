from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest

from ciguard.domain.values import Constant, Explicit, LiteralValue

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.mark.parametrize("make", [Constant, LiteralValue, lambda number: Explicit((1.0, number))])
def test_nan_is_equal_to_nan(make: Callable[[float], object]) -> None:
    one, other = make(float("nan")), make(-float("nan"))

    assert one == other
    assert len({one, other}) == 1
    assert one != make(math.inf)


def test_values_of_different_kinds_are_not_equal() -> None:
    assert Constant(1.0) != LiteralValue(1.0)
    assert LiteralValue("nan") != LiteralValue(math.nan)
