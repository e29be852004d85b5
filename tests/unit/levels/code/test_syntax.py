"""Spelling, binding and liveness of names in programs."""

from __future__ import annotations

import ast

import pytest

from ciguard.levels.code.dialects import dialect_of
from ciguard.levels.code.programs import Program
from ciguard.levels.code.syntax import live_names, names_read, parse_positional
from ciguard.sources import names_bound_in


@pytest.mark.parametrize(
    ("program", "api", "spelled"),
    [
        ("import torch.nn as nn\nimport torch", "torch.nn.Conv2d", ("nn.Conv2d", "")),
        ("from torch.nn import Linear", "torch.nn.Linear", ("Linear", "")),
        ("import numpy", "torch.nn.Linear", ("torch.nn.Linear", "import torch")),
        ("torch = 1", "torch.nn.Linear", ("_torch.nn.Linear", "import torch as _torch")),
        ("from tensorflow import keras", "keras.layers.Add", ("keras.layers.Add", "")),
        ("from keras import layers", "tensorflow.keras.layers.Add", ("layers.Add", "")),
        ("import torchvision", "torch.relu", ("torch.relu", "import torch")),
        ("def f(torch): ...", "torch.relu", ("_torch.relu", "import torch as _torch")),
    ],
)
def test_names_are_spelled_as_the_program_does(
    program: str, api: str, spelled: tuple[str, str]
) -> None:
    assert Program(program, dialect_of("torch")).spelling(api) == spelled


@pytest.mark.parametrize(
    ("text", "read", "bound"),
    [
        ("y = f(x)", {"f", "x"}, {"y"}),
        ("x += 1", {"x"}, {"x"}),
        ("a, (b, *c) = x", {"x"}, {"a", "b", "c"}),
        ("y = [i * k for i in x]", {"x", "k"}, {"y"}),
        ("y = lambda a: a + b", {"b"}, {"y"}),
        ("def f(a):\n    b = a + c\n    return b", {"c"}, {"f"}),
        ("import a.b, c as d", set(), {"a", "d"}),
        ("for i in x:\n    y = i", {"x", "i"}, {"i", "y"}),
    ],
)
def test_statements_read_and_bind_names(text: str, read: set[str], bound: set[str]) -> None:
    (statement,) = ast.parse(text).body

    assert (names_read(statement), names_bound_in(statement)) == (read, bound)


@pytest.mark.parametrize(
    ("text", "needed"),
    [
        ("y = f(x)\nreturn y", [{"f", "x"}, {"y"}, set()]),
        ("i = x\nx = f(x)\nreturn x + i", [{"f", "x"}, {"f", "x", "i"}, {"x", "i"}, set()]),
        ("for l in ls:\n    x = l(x)\nreturn x", [{"ls", "x"}, {"x"}, set()]),
        ("if c:\n    x = a\nelse:\n    x = b\nreturn x", [{"a", "b", "c"}, {"x"}, set()]),
        ("if c:\n    x = a\nreturn x", [{"a", "c", "x"}, {"x"}, set()]),
        ("with f() as g:\n    x = g(x)\nreturn x", [{"f", "x"}, {"x"}, set()]),
    ],
)
def test_names_are_live_until_their_last_read(text: str, needed: list[set[str]]) -> None:
    assert live_names(ast.parse(text).body) == needed


def test_positional_arguments_are_parsed() -> None:
    assert ast.unparse(parse_positional("*sizes")) == "*sizes"
    with pytest.raises(SyntaxError):
        parse_positional("a, b")
