"""Seeds before a call, and values of lazy results."""

from __future__ import annotations

import itertools
import sys
import types
from typing import Any

import pytest

from ciguard.functions.in_target.calling.running import consume, seed


class Collection:
    """A lazy collection that follows dask's protocol."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __dask_graph__(self) -> dict[str, Any]:
        return {}

    def compute(self) -> Any:
        return self.value()


def module(**members: Any) -> types.ModuleType:
    made = types.ModuleType("tensorflow")
    vars(made).update(members)
    return made


def test_the_first_version_of_tensorflow_is_seeded(monkeypatch: pytest.MonkeyPatch) -> None:
    seeds: list[int] = []
    generators = types.SimpleNamespace(set_random_seed=seeds.append)
    monkeypatch.setitem(sys.modules, "tensorflow", module(random=generators))

    seed(7)

    assert seeds == [7]


@pytest.mark.parametrize("members", [{}, {"random": object()}, {"random": None}])
def test_a_library_without_seeds_does_not_fail(
    members: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(number: int) -> None:
        raise AttributeError(number)

    monkeypatch.setitem(sys.modules, "tensorflow", module(**members))
    monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(manual_seed=refuse))

    seed(7)


def test_lazy_results_are_lists_of_their_first_items() -> None:
    assert consume(enumerate("ab")) == [(0, "a"), (1, "b")]
    assert consume(itertools.islice(itertools.count(), 3)) == [0, 1, 2]
    assert len(consume(itertools.count())) == 100
    assert consume([1, 2]) == [1, 2]


def test_lazy_collections_are_computed_so_that_their_failures_show() -> None:
    assert consume(Collection(lambda: 3)) == 3
    assert consume((1, Collection(lambda: 3))) == [1, 3]
    with pytest.raises(ZeroDivisionError):
        consume(Collection(lambda: 1 // 0))
