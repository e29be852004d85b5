"""What import statements bind, and what names mean by them."""

from __future__ import annotations

import ast

import pytest

from ciguard.sources import imports_in, imports_of

IMPORTS = """
import torch, numpy as np
import torch.nn as nn
import torch.nn.functional
import torch.nn.functional as F
from torch.nn import Linear as Dense, utils
from tensorflow import keras
layers = keras.layers
convolutional = layers.convolutional
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
        ("convolutional.Conv2D", "tensorflow.keras.layers.convolutional.Conv2D"),
        ("self.conv", ""),
        ("make().conv", ""),
    ],
)
def test_qualified_of_an_imported_name_is_the_import(text: str, name: str) -> None:
    tree = ast.parse(IMPORTS)
    imports = imports_of(tree).with_aliases(tree)

    assert imports.imported(ast.parse(text, mode="eval").body) == name


@pytest.mark.parametrize(
    ("text", "name"),
    [("np.zeros", "numpy.zeros"), ("own.thing", "own.thing"), ("f().x", "")],
)
def test_qualified_of_another_name_is_unchanged(text: str, name: str) -> None:
    imports = imports_of(ast.parse("import numpy as np"))

    assert imports.qualified(ast.parse(text, mode="eval").body) == name


@pytest.mark.parametrize(
    ("statement", "package", "meaning"),
    [
        ("from . import x", "a.b", "a.b.x"),
        ("from .c import x", "a.b", "a.b.c.x"),
        ("from ..c import x", "a.b", "a.c.x"),
        ("from .....c import x", "a.b", "c.x"),
        ("from . import x", "", "x"),
        ("from c import x", "a.b", "c.x"),
    ],
)
def test_relative_imports_start_at_the_package(statement: str, package: str, meaning: str) -> None:
    assert imports_of(ast.parse(statement), package).imported_names == {"x": meaning}


def test_imports_of_without_a_package_omits_relative_imports() -> None:
    tree = ast.parse("from .torch import relu\nimport numpy")

    assert imports_of(tree).imported_names == {"numpy": "numpy"}


def test_imports_of_a_script_resolves_modules_in_its_folder() -> None:
    tree = ast.parse("import tools.fast\nfrom tools import slow\nimport numpy")

    imports = imports_of(tree, "jobs", {"tools": "jobs"})

    assert imports.imported_names == {
        "tools": "jobs.tools",
        "slow": "jobs.tools.slow",
        "numpy": "numpy",
    }
    assert imports.imports("jobs.tools.fast")
    assert not imports.imports("tools")


@pytest.mark.parametrize(
    ("statement", "package", "is_imported"),
    [
        ("from google.cloud import vision", "google.cloud.vision", True),
        ("from google.cloud.vision_v1 import types", "google.cloud.vision", True),
        ("import google.cloud.vision.types", "google.cloud.vision", True),
        ("from google.cloud import visionary", "google.cloud.vision", False),
    ],
)
def test_imports_accepts_versions_and_members_of_a_package(
    statement: str, package: str, *, is_imported: bool
) -> None:
    assert imports_of(ast.parse(statement)).imports(package) is is_imported


def test_imports_in_yields_imports_of_all_scopes() -> None:
    tree = ast.parse("def f():\n    from a import *\n\nif x:\n    import b.c as d, e.f")

    names = [(item.local, item.qualified_name, item.module) for item in imports_in(tree)]

    assert sorted(names) == [("*", "a.*", "a"), ("d", "b.c", "b.c"), ("e", "e", "e.f")]
