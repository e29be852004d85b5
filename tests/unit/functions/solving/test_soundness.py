"""Solving excludes no valid call, compared with exhaustive enumeration for random conditions."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st

from ciguard.domain.values import LiteralValue
from ciguard.functions.checking.unsatisfiable import unsatisfiable
from ciguard.functions.drawing import call_sampler
from ciguard.functions.specs import FunctionSpec, ModuleSpec
from ciguard.functions.specs.functions import Condition, ParameterSpec
from ciguard.functions.specs.kinds import Anys, IntRange, Lists, Spec
from ciguard.values import OneOf

RANGES = {"a": range(-2, 4), "b": range(1, 5)}
LENGTHS = range(3)
LISTS = [list(xs) for n in LENGTHS for xs in itertools.product((0, 2), repeat=n)]
CHOICES = [None, 1, 3]
SPECS: dict[str, Spec] = {
    "a": IntRange(-2, 3),
    "b": IntRange(1, 4),
    "xs": Lists(Anys((OneOf((LiteralValue(0),)), OneOf((LiteralValue(2),)))), 0, 2),
    "c": OneOf(tuple(map(LiteralValue, CHOICES))),
}

numbers = st.recursive(
    st.sampled_from(["a", "b", "len(xs)", "0", "1", "2", "3", "-1"]),
    lambda inner: st.one_of(
        st.builds("({} {} {})".format, inner, st.sampled_from("+-*%"), inner),
        st.builds("({} // {})".format, inner, st.sampled_from(["2", "b"])),
        st.builds("{}({}, {})".format, st.sampled_from(["min", "max"]), inner, inner),
        st.builds("(-{})".format, inner),
    ),
    max_leaves=4,
)
comparisons = st.builds(
    "{} {} {}".format, numbers, st.sampled_from(["==", "!=", "<", "<=", ">", ">="]), numbers
)
atoms = st.one_of(
    comparisons,
    comparisons,
    st.builds("{} < {} <= {}".format, numbers, numbers, numbers),
    st.sampled_from(
        [
            "c is None",
            "c is not None and c > a",
            "c is None or c == b",
            "type(c) is int",
            "isinstance(c, int) and c + a == 3",
            "all(x <= a for x in xs)",
            "all(-x < b for x in xs)",
            "a in (1, 3)",
            "max(xs) <= a",
            "min(xs) >= a",
            "xs[0] == a",
            "xs[0] < 1 or a == 2",
            "b not in (1, 2)",
        ]
    ),
)
conditions = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.builds("({} and {})".format, inner, inner),
        st.builds("({} or {})".format, inner, inner),
        st.builds("(not {})".format, inner),
    ),
    max_leaves=4,
)


def valid_calls(texts: list[str]) -> set[tuple[object, ...]]:
    codes = [compile(text, "<condition>", "eval") for text in texts]
    calls: set[tuple[object, ...]] = set()
    for a, b, xs, c in itertools.product(RANGES["a"], RANGES["b"], LISTS, CHOICES):
        scope = {"a": a, "b": b, "xs": xs, "c": c}
        if all(_holds(code, scope) for code in codes):
            calls.add((a, b, tuple(xs), c))
    return calls


def _holds(code: object, scope: dict[str, object]) -> bool:
    try:
        return bool(eval(code, dict(scope)))  # type: ignore[arg-type]  # noqa: S307 - a condition that this test has drawn
    except (ArithmeticError, LookupError, TypeError, ValueError):
        return False  # an evaluation that fails discards the call


def function_with(texts: list[str]) -> FunctionSpec:
    parameters = tuple(ParameterSpec(name=name, spec=spec) for name, spec in SPECS.items())
    preconditions = tuple(
        Condition(text, 1, tuple(name for name in SPECS if name in text)) for text in texts
    )
    return FunctionSpec(name="f", parameters=parameters, preconditions=preconditions)


QUICK = (Phase.explicit, Phase.reuse, Phase.generate)
"""Phases without shrinking, which takes minutes here; the conditions are short anyway."""

every_condition = st.lists(conditions, min_size=1, max_size=2)


@settings(max_examples=40, phases=QUICK, deadline=None, suppress_health_check=list(HealthCheck))
@given(every_condition)
def test_a_condition_reported_as_unsatisfiable_has_no_valid_call(texts: list[str]) -> None:
    function = function_with(texts)

    if list(unsatisfiable(function)):
        assert valid_calls(texts) == set()


@settings(max_examples=25, phases=QUICK, deadline=None, suppress_health_check=list(HealthCheck))
@given(every_condition, st.integers(0, 999))
@pytest.mark.slow
def test_every_valid_call_can_be_drawn_and_every_drawn_call_is_valid(
    texts: list[str], seed: int
) -> None:
    function = function_with(texts)
    assume(not list(unsatisfiable(function)))
    valid = valid_calls(texts)
    sample = call_sampler(function, ModuleSpec(file="", functions=(function,)))
    rng = random.Random(seed)

    drawn = [sample(rng) for _ in range(300 if len(valid) <= 2 else 8)]

    calls = {_plain(call.arguments) for call in drawn if call is not None}
    assert not [call for call in calls if _is_known_to_be_invalid(call, texts)]
    if 0 < len(valid) <= 2:
        assert valid <= calls, sorted(map(repr, valid - calls))


def _is_known_to_be_invalid(call: tuple[object, ...], texts: list[str]) -> bool:
    scope = dict(zip(("a", "b", "xs", "c"), call, strict=True)) | {"xs": list(call[2])}  # type: ignore[call-overload]
    for text in texts:
        try:
            if not eval(text, dict(scope)):  # noqa: S307 - a condition that this test has drawn
                return True
        except (ArithmeticError, LookupError, TypeError, ValueError):
            continue  # decided by the call itself
    return False


def _plain(arguments: tuple[tuple[str, object], ...]) -> tuple[object, ...]:
    values_by_name = dict(arguments)
    items = tuple(item.value for item in values_by_name["xs"].items)  # type: ignore[attr-defined]
    scalars = {name: values_by_name[name].value for name in ("a", "b", "c")}  # type: ignore[attr-defined]
    return scalars["a"], scalars["b"], items, scalars["c"]
