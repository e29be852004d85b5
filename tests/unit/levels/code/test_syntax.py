from __future__ import annotations

import ast

import pytest

from ciguard.levels.code.syntax import alive, imports_of, loads, parse_positional, stores

IMPORTS = """
import torch, numpy as np
import torch.nn as nn
import torch.nn.functional
import torch.nn.functional as F
from torch.nn import Linear as Dense, utils
from tensorflow import keras
layers = keras.layers
"""


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("nn.Conv2d", "torch.nn.Conv2d"),
        ("F.relu", "torch.nn.functional.relu"),
        ("torch.nn.functional.relu", "torch.nn.functional.relu"),
        ("Dense", "torch.nn.Linear"),
        ("utils.rnn.pad_sequence", "torch.nn.utils.rnn.pad_sequence"),
        ("layers.Dense", "tensorflow.keras.layers.Dense"),
        ("self.conv", ""),
        ("make().conv", ""),
    ],
)
def test_names_mean_what_is_imported(text: str, name: str) -> None:
    imports = imports_of(ast.parse(IMPORTS))

    assert imports.qualified(ast.parse(text, mode="eval").body) == name


@pytest.mark.parametrize(
    ("program", "api", "spelling"),
    [
        ("import torch.nn as nn\nimport torch", "torch.nn.Conv2d", ("nn.Conv2d", "")),
        ("from torch.nn import Linear", "torch.nn.Linear", ("Linear", "")),
        ("import numpy", "torch.nn.Linear", ("torch.nn.Linear", "import torch")),
        ("torch = 1", "torch.nn.Linear", ("_torch.nn.Linear", "import torch as _torch")),
        ("from tensorflow import keras", "keras.layers.Add", ("keras.layers.Add", "")),
        ("from keras import layers", "tensorflow.keras.layers.Add", ("layers.Add", "")),
        ("import torchvision", "torch.relu", ("torch.relu", "import torch")),
    ],
)
def test_names_are_spelled_as_the_program_does(
    program: str, api: str, spelling: tuple[str, str]
) -> None:
    assert imports_of(ast.parse(program)).spelling(api) == spelling


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

    assert (loads(statement), stores(statement)) == (read, bound)


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
def test_names_are_alive_while_they_are_needed(text: str, needed: list[set[str]]) -> None:
    assert alive(ast.parse(text).body) == needed


def test_arguments_are_read_alone() -> None:
    assert ast.unparse(parse_positional("*sizes")) == "*sizes"
    with pytest.raises(SyntaxError):
        parse_positional("a, b")
