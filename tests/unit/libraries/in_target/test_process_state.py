"""Restoring the global state of Python and numpy that a case has changed."""

# ruff: noqa: NPY002 - the tests cover numpy's legacy global generator

from __future__ import annotations

import random
import sys

import numpy as np

from ciguard.libraries.in_target.global_state import GlobalState
from ciguard.libraries.in_target.interpreter_state import InterpreterState


def test_numbers_drawn_by_a_case_do_not_affect_the_next() -> None:
    state = InterpreterState()
    first = (random.random(), float(np.random.rand()))

    state.restore()

    assert (random.random(), float(np.random.rand())) == first


def test_a_seed_set_by_a_case_is_restored() -> None:
    state = InterpreterState()
    first = random.random()
    state.restore()
    random.seed(7)
    random.random()

    state.restore()

    assert random.random() == first


def test_random_numbers_differ_after_vary_until_the_next_one() -> None:
    state = InterpreterState()
    first = (random.random(), float(np.random.rand()))

    state.vary(7)
    varied = (random.random(), float(np.random.rand()))
    state.restore()

    assert all(before != after for before, after in zip(first, varied, strict=True))
    assert (random.random(), float(np.random.rand())) == varied


def test_settings_of_numpy_and_the_recursion_limit_are_restored() -> None:
    errors, precision, limit = (
        np.geterr(),
        np.get_printoptions()["precision"],
        sys.getrecursionlimit(),
    )
    state = InterpreterState()
    np.seterr(all="raise")
    np.set_printoptions(precision=3)
    sys.setrecursionlimit(limit + 50)

    state.restore()

    assert (np.geterr(), np.get_printoptions()["precision"], sys.getrecursionlimit()) == (
        errors,
        precision,
        limit,
    )


def test_only_changed_values_are_restored() -> None:
    values = {"a": 1, "b": 2}
    restored: list[str] = []

    def write(name: str, clean: int) -> None:
        restored.append(name)
        values[name] = clean

    state = GlobalState(
        [
            (lambda: values["a"], lambda clean: write("a", clean)),
            (lambda: values["b"], lambda clean: write("b", clean)),
        ]
    )
    values["b"] = 5

    state.restore()

    assert (values, restored, state.is_clean()) == ({"a": 1, "b": 2}, ["b"], True)


def test_a_list_that_a_case_extends_is_restored_each_time() -> None:
    values: dict[str, list[str]] = {"callbacks": []}
    state = GlobalState(
        [(lambda: values["callbacks"], lambda clean: values.update(callbacks=clean))]
    )

    for _ in range(2):
        values["callbacks"].append("a callback of a case")
        state.restore()
        assert values == {"callbacks": []}
