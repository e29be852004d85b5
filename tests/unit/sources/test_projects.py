"""Resolution of names that modules of a project import from each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ciguard.sources import Project, import_root, module_name, read_module

if TYPE_CHECKING:
    from pathlib import Path

FILES = {
    "src/mine/__init__.py": "from .layers import Block as Layer\nfrom mine.more import *",
    "src/mine/layers.py": "import torch.nn as nn\nBlock = nn.Linear\nimport mine",
    "src/mine/more.py": "from torch import relu\nfrom .circle import again",
    "src/mine/circle.py": "from .more import again",
    "tools/run.py": "import helper\nfrom mine import Layer",
    "tools/helper.py": "import torch as t",
}


@pytest.fixture
def project() -> Project:
    modules = {
        path: read_module(text, path.rpartition("/")[0].replace("/", "."))
        for path, text in FILES.items()
    }
    return Project(modules, lambda top: top == "torch")


@pytest.mark.parametrize(
    ("name", "outside"),
    [
        ("torch.abs", "torch.abs"),
        ("mine.Layer", "torch.nn.Linear"),
        ("mine.Layer.forward", "torch.nn.Linear.forward"),
        ("mine.relu", "torch.relu"),
        ("helper.t.abs", "torch.abs"),
        ("mine.more.again", ""),
        ("numpy.abs", ""),
        ("mine", ""),
    ],
)
def test_resolved_follows_reexports(project: Project, name: str, outside: str) -> None:
    assert project.resolve(name, "tools/run.py") == outside


@pytest.mark.parametrize(("last", "outside"), [("torch", "torch.relu"), ("numpy", "")])
def test_resolved_ends_at_star_imports_of_compiled_modules(last: str, outside: str) -> None:
    stars = "".join(f"from {one} import *\n" for one in ("._C", "._ops", "._more", last))
    modules = {"mine/__init__.py": read_module(stars, "mine")}

    project = Project(modules, lambda top: top == "torch")

    assert project.resolve("mine.relu", "run.py") == outside


def test_imported_by_returns_the_projects_modules(project: Project) -> None:
    assert project.imported_modules("tools/run.py") == {"tools/helper.py", "src/mine/__init__.py"}
    assert project.imported_modules("src/mine/layers.py") == {"src/mine/__init__.py"}


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("a.py", "a"),
        ("a/b/c.py", "a.b.c"),
        ("a/__init__.py", "a"),
        ("a/my__init__.py", "a.my__init__"),
        ("__init__.py", ""),
    ],
)
def test_module_name_follows_from_the_path(path: str, name: str) -> None:
    assert module_name(path) == name


def test_import_root_is_above_the_outermost_package(tmp_path: Path) -> None:
    inner = tmp_path / "not-a-name" / "a" / "b"
    inner.mkdir(parents=True)
    for folder in (inner, inner.parent, inner.parent.parent):
        (folder / "__init__.py").touch()

    assert import_root(inner) == tmp_path / "not-a-name"
    assert import_root(tmp_path) == tmp_path
