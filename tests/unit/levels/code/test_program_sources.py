"""Sources of seed programs: their names, and errors of unreadable ones."""

from __future__ import annotations

import ast
import os
from typing import TYPE_CHECKING

import pytest

from ciguard.errors import ConfigurationError, UnknownNameError
from ciguard.levels.code.seed_sources import (
    ProgramSource,
    read_program,
    shipped_program,
    shipped_programs,
)

if TYPE_CHECKING:
    from pathlib import Path

SHIPPED = (
    *("alexnet", "googlenet", "lenet", "lstm", "mobilenet"),
    *("pointnet", "resnet18", "squeezenet", "vgg19"),
)
METHODS = {"torch": "forward", "tensorflow": "call", "jittor": "execute"}
"""How each library names what a model of its own class computes."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("tower.py", "notes.txt"):
        (tmp_path / name).write_text("import torch\n")
    (tmp_path / "folder.py").mkdir()
    return tmp_path


def names_in(library: str, program: str) -> set[str]:
    """Return all names that a program uses: of variables, attributes and functions."""
    nodes = list(ast.walk(ast.parse(shipped_program(program, library).text)))
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    names |= {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    return names | {node.name for node in nodes if isinstance(node, ast.FunctionDef)}


# --- what comes with ciguard ----------------------------------------------------------------------


@pytest.mark.parametrize("library", METHODS)
def test_the_models_of_the_paper_are_shipped_for_each_library(library: str) -> None:
    assert shipped_programs(library) == SHIPPED


def test_functions_that_return_a_model_are_no_programs() -> None:
    assert shipped_programs("keras") == ()


@pytest.mark.parametrize("library", METHODS)
@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_programs_assign_the_compared_variables(library: str, name: str) -> None:
    source = shipped_program(name, library)

    body = ast.parse(source.text).body
    stored = [node for part in body for node in ast.walk(part) if isinstance(node, ast.Name)]
    assigned = {node.id for node in stored if isinstance(node.ctx, ast.Store)}
    assert source.name == f"{library}/{name}"
    assert {"model", "loss", "predictions"} <= assigned
    assert len({"accuracy", "error"} & assigned) == 1
    assert isinstance(body[0], ast.Expr)  # what it is, and whose
    assert ast.unparse(body[-1]).startswith("print(")


@pytest.mark.parametrize("library", METHODS)
def test_both_styles_of_programs_occur(library: str) -> None:
    used = {name: names_in(library, name) for name in SHIPPED}

    serial = {name for name in SHIPPED if METHODS[library] not in used[name]}
    assert 2 <= len(serial) <= 7
    assert any("Sequential" in used[name] for name in serial)


# --- what a user names ----------------------------------------------------------------------------


def test_a_script_is_read_relative_to_the_base_folder(folder: Path) -> None:
    (folder / "models").mkdir()
    (folder / "models" / "own.py").write_bytes(b"\xef\xbb\xbfx = 1\r\ny = 2\r\n")

    source = read_program("models/own.py", base=folder)

    assert source == ProgramSource(name="models/own.py", text="x = 1\ny = 2\n")


def test_a_link_to_a_script_is_followed(folder: Path) -> None:
    (folder / "linked.py").symlink_to("tower.py")

    assert read_program("linked.py", base=folder).text == "import torch\n"


@pytest.mark.parametrize(
    ("text", "library", "why"),
    [
        ("resnet", "torch", "no such seed program. Did you mean 'resnet18'? Known: alexnet, "),
        ("../torch/lenet", "torch", "no such seed program"),
        ("", "torch", "no such seed program"),
        ("lenet", "keras", "no such seed program"),
    ],
)
def test_an_unknown_name_is_an_error_with_the_known_names(
    text: str, library: str, why: str
) -> None:
    with pytest.raises(UnknownNameError) as caught:
        shipped_program(text, library)

    assert why in str(caught.value)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("gone.py", "there is no file {}/gone.py. {} contains: binary.py, broken.py, "),
        ("no/folder/gone.py", "no/folder contains: no .py file"),
        ("tower.py/gone.py", "tower.py/gone.py cannot be read: Not a directory"),
        ("folder.py", "{}/folder.py cannot be read: "),
        ("pipe.py", "{}/pipe.py is not valid Python: the path is not a regular file"),
        ("long.py", "{}/long.py is not valid Python: the file is larger than 1048576 bytes"),
        ("latin.py", "{}/latin.py is not valid Python: the file is not UTF-8 text (byte 1)"),
        ("broken.py", "{}/broken.py, line 2: "),
        ("binary.py", "{}/binary.py"),
    ],
)
def test_an_unreadable_program_is_an_error_with_its_location(
    folder: Path, text: str, why: str
) -> None:
    os.mkfifo(folder / "pipe.py")
    (folder / "long.py").write_bytes(b"#" * (1 << 20) + b"\n")
    (folder / "latin.py").write_bytes(b"#\xe9\n")
    (folder / "broken.py").write_text("x = 1\nx = (\n")
    (folder / "binary.py").write_text("x = 1\0\n")

    with pytest.raises(ConfigurationError) as caught:
        read_program(text, base=folder)

    assert str(caught.value).startswith(f"programs: {text!r}: ")
    assert why.format(folder, folder) in str(caught.value)
