"""What a case leaves behind in Python and numpy is put back."""

# ruff: noqa: NPY002 - the generators under test

from __future__ import annotations

import random
import sys

import numpy as np

from ciguard.libraries.in_target.global_state import GlobalState
from ciguard.libraries.in_target.interpreter_state import InterpreterState


def test_draws_of_a_case_do_not_show_in_the_next() -> None:
    state = InterpreterState()
    first = (random.random(), float(np.random.rand()))

    state.restore()

    assert (random.random(), float(np.random.rand())) == first


def test_a_seed_set_by_a_case_is_forgotten() -> None:
    state = InterpreterState()
    first = random.random()
    state.restore()
    random.seed(7)
    random.random()

    state.restore()

    assert random.random() == first


def test_chance_falls_otherwise_from_the_time_on_that_it_is_varied() -> None:
    state = InterpreterState()
    first = (random.random(), float(np.random.rand()))

    state.vary(7)
    varied = (random.random(), float(np.random.rand()))
    state.restore()

    assert all(one != other for one, other in zip(first, varied, strict=True))
    assert (random.random(), float(np.random.rand())) == varied


def test_numpy_settings_and_the_recursion_limit_come_back() -> None:
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


def test_only_what_changed_is_put_back() -> None:
    values = {"a": 1, "b": 2}
    restored: list[str] = []

    def put_back(name: str, clean: int) -> None:
        restored.append(name)
        values[name] = clean

    state = GlobalState(
        [
            (lambda: values["a"], lambda clean: put_back("a", clean)),
            (lambda: values["b"], lambda clean: put_back("b", clean)),
        ]
    )
    values["b"] = 5

    state.restore()

    assert (values, restored, state.is_clean()) == ({"a": 1, "b": 2}, ["b"], True)
