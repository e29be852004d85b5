"""Annotated files are recognised by their text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ciguard.functions.specs.programs import (
    ProgramFile,
    has_plain_tests,
    is_annotated,
    sidecar_of,
)

if TYPE_CHECKING:
    from pathlib import Path

DECORATED = '@arg("n", ints())\ndef f(n): ...\n'


@pytest.mark.parametrize(
    "text",
    [
        f"from ciguard.annotations import arg, ints\n{DECORATED}",
        f"from ciguard.annotations import *\n{DECORATED}",
        f"from .tools.annotations import arg, ints\n{DECORATED}",
        "from ciguard import annotations as an\n@an.arg('n', an.ints())\ndef f(n): ...\n",
        "import ciguard.annotations\n@ciguard.annotations.require('n')\ndef f(n): ...\n",
        "from annotations import module_test\nmodule_test()\n",
        "from annotations import arg as a\nclass C:\n    @a('n', 1)\n    def m(self, n): ...\n",
        "from ciguard.annotations import arg\nprint 'Python 2'\n",
    ],
)
def test_a_file_that_uses_annotations_is_annotated(tmp_path: Path, text: str) -> None:
    file = tmp_path / "model.py"
    file.write_text(text)

    assert is_annotated(file)


@pytest.mark.parametrize(
    "text",
    [
        "from __future__ import annotations\ndef f(): ...\n",
        "from ciguard.annotations import arg, ints\nprint(1)\n",
        "from annotations import generator\n@generator\ndef f(): ...\n",
        "from other import arg\n# annotations\n@arg('n')\ndef f(n): ...\n",
        "def f(annotations): ...\n(",
        "",
    ],
)
def test_a_file_without_annotations_that_request_tests_is_not_annotated(
    tmp_path: Path, text: str
) -> None:
    file = tmp_path / "model.py"
    file.write_text(text)

    assert not is_annotated(file)


def test_missing_files_and_sidecars_are_not_annotated(tmp_path: Path) -> None:
    sidecar = tmp_path / "model.annotations.py"
    sidecar.write_text(f"from ciguard.annotations import *\n{DECORATED}")

    assert not is_annotated(sidecar)
    assert not is_annotated(tmp_path / "gone.py")


def test_annotated_tests_do_not_count_as_plain_tests(tmp_path: Path) -> None:
    head = "from ciguard.annotations import arg, ints\n"
    (tmp_path / "own.py").write_text(f"{head}{DECORATED.replace(' f(', ' test_f(')}")
    (tmp_path / "both.py").write_text(f"{head}{DECORATED}def test_plain(): ...\n")

    assert not has_plain_tests(tmp_path / "own.py")
    assert has_plain_tests(tmp_path / "both.py")


def test_the_import_root_of_a_program_is_above_its_package(tmp_path: Path) -> None:
    inner = tmp_path / "src" / "pkg" / "sub"
    inner.mkdir(parents=True)
    for folder in (inner, inner.parent):
        (folder / "__init__.py").touch()

    assert ProgramFile.at(inner / "model.py").name == "pkg.sub.model"
    assert ProgramFile.at(inner / "__init__.py").name == "pkg.sub"
    assert ProgramFile.at(inner / "model.py").root == tmp_path / "src"
    assert ProgramFile.at(tmp_path / "alone.py").name == "alone"


def test_a_sidecar_is_found_beside_its_program_or_by_its_target(tmp_path: Path) -> None:
    aside = tmp_path / "aside"
    aside.mkdir()
    (tmp_path / "near.annotations.py").touch()
    (aside / "same.annotations.py").touch()
    (aside / "named.annotations.py").write_text("target = 'deep.package.far'\n")
    (aside / "torn.annotations.py").write_text("target = (\n")

    def sidecar_name(name: str) -> str:
        path = sidecar_of(ProgramFile.at(tmp_path / f"{name}.py"), [aside])
        return path.name if path is not None else ""

    assert sidecar_name("near") == "near.annotations.py"
    assert sidecar_name("same") == "same.annotations.py"
    assert sidecar_name("far") == "named.annotations.py"
    assert sidecar_name("named") == ""
    assert sidecar_name("torn") == "torn.annotations.py"
    assert sidecar_name("ar") == ""
