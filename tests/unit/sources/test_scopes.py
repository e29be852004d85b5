"""Which names statements bind, and which may be changed elsewhere."""

from __future__ import annotations

import ast

import pytest

from ciguard.sources import names_bound_in, names_changed_by, parameters, scope_nodes


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a, (b, *c) = x", {"a", "b", "c"}),
        ("import a.b, c as d\nfrom e import f as g, h\nfrom i import *", {"a", "d", "g", "h"}),
        ("for i in x:\n    y = i", {"i", "y"}),
        ("try:\n    a = 1\nexcept E as e:\n    del b", {"a", "e", "b"}),
        (
            "match x:\n    case [a, *b] | {'k': a, **b}: ...\n    case E() as c: ...",
            {"a", "b", "c"},
        ),
        ("def f(a):\n    b = 1", {"f"}),
        ("class C:\n    b = 1", {"C"}),
        ("y = lambda a: a", {"y"}),
        ("y = [i for i in x if (z := i)]", {"y", "z"}),
        ("x.y = z[0] = 1", set()),
    ],
)
def test_bound_in_returns_names_of_the_own_scope(text: str, names: set[str]) -> None:
    assert names_bound_in(*ast.parse(text).body) == names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("x.append(1)", {"x"}),
        ("x.y.z = 1", {"x"}),
        ("def f():\n    global a, b", {"f", "a", "b"}),
        ("def f(a, *b): ...", {"f", "a", "b"}),
        ("x[0]", set()),
    ],
)
def test_may_change_yields_names_of_changed_objects(text: str, names: set[str]) -> None:
    nodes = ast.walk(ast.parse(text))

    assert {name for node in nodes for name in names_changed_by(node)} == names


def test_own_nodes_are_in_order() -> None:
    body = ast.parse("a = b\ndef f():\n    c = d\ne = [g for h in i]").body

    names = [node.id for node in scope_nodes(body) if isinstance(node, ast.Name)]

    assert names == ["a", "b", "e", "g", "i"]


def test_parameters_returns_args_and_kwargs_last() -> None:
    (function,) = ast.parse("def f(a, /, b, *c, d, **e): ...").body
    assert isinstance(function, ast.FunctionDef)

    assert parameters(function.args) == ["a", "b", "d", "c", "e"]
