"""Level `function`: its programs, the order of functions, and the calls."""

from __future__ import annotations

import types
from typing import TYPE_CHECKING

import pytest

from ciguard.domain.case import case_to_json
from ciguard.errors import ConfigurationError
from ciguard.functions.checking import module_from_json
from ciguard.functions.in_target.describing.module import module_description
from ciguard.levels import focused_level
from ciguard.levels.function.level import FunctionLevel, FunctionUnderTest
from ciguard.levels.function.programs import find_programs

if TYPE_CHECKING:
    from pathlib import Path

    from ciguard.domain.values import Json

ANNOTATED = "from ciguard.annotations import arg, ints\n\n@arg('x', ints(0, 9))\ndef f(x): ...\n"


def annotated(*names: str) -> list[FunctionUnderTest]:
    """Return functions of one program."""
    program = types.ModuleType("m")
    text = "from ciguard.annotations import arg, ints\n"
    text += "".join(f"@arg('x', ints(0, 9))\ndef {name}(x): ...\n" for name in names)
    exec(compile(text, "m.py", "exec"), vars(program))
    module = module_from_json(module_description(program))
    return [FunctionUnderTest("m.py", module, function) for function in module.tested()]


def test_functions_alternate_after_the_import_of_their_program() -> None:
    level = FunctionLevel(annotated("f", "g"), 0)

    assert [level.api_of(index) for index in range(3)] == ["m.py:f", "m.py:g", "m.py:f"]
    first, second, third = (level.cases(index).cases for index in range(3))
    assert [case.api for case in first[:2]] == ["m.py", "m.py:f"]
    assert {case.api for case in second} == {"m.py:g"}
    assert {case.api for case in third} == {"m.py:f"}


def test_calls_depend_on_the_seed_but_not_on_other_functions() -> None:
    def calls(level: FunctionLevel, index: int) -> list[Json]:
        return [case_to_json(case) for case in level.cases(index).cases if case.api == "m.py:f"]

    alone, beside = FunctionLevel(annotated("f"), 3), FunctionLevel(annotated("f", "g"), 3)

    assert calls(alone, 0) == calls(alone, 0)
    assert calls(alone, 1) == calls(beside, 2)
    assert calls(alone, 1) != calls(alone, 2)
    assert calls(alone, 1) != calls(FunctionLevel(annotated("f"), 4), 1)


def test_functions_in_focus_are_called_first_and_most_often() -> None:
    functions = annotated("f", "g", "h")

    level, _ = focused_level(FunctionLevel, functions, 0, focus=("torch.*", "m.py:h*"))

    turns = [level.cases(index).api for index in range(10)]
    assert turns[:2] == ["m.py:h", "m.py:h"]
    assert turns.count("m.py:h") == 7


def test_a_level_without_functions_is_an_error() -> None:
    with pytest.raises(ValueError, match="no function"):
        FunctionLevel([], 0)


# --- programs -----------------------------------------------------------------------------------


@pytest.fixture
def base(tmp_path: Path) -> Path:
    package = tmp_path / "src" / "pkg"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("", "utf-8")
    (package / "inner.py").write_text(ANNOTATED, "utf-8")
    (tmp_path / "src" / "plain.py").write_text("x = 1\n", "utf-8")
    (tmp_path / "src" / "beside.py").write_text("def f(x): ...\n", "utf-8")
    (tmp_path / "src" / "beside.annotations.py").write_text(ANNOTATED, "utf-8")
    return tmp_path


def test_a_glob_matches_programs_with_annotations_or_a_sidecar(base: Path) -> None:
    programs = find_programs(["src/**/*.py"], base=base)

    assert sorted(programs) == ["src/beside.py", "src/pkg/inner.py"]
    assert programs["src/pkg/inner.py"].name == "pkg.inner"
    assert programs["src/pkg/inner.py"].root == base / "src"
    assert programs["src/beside.py"].sidecar == base / "src" / "beside.annotations.py"


def test_an_absolute_path_below_the_folder_is_accepted(base: Path) -> None:
    path = base / "src" / "beside.py"

    assert list(find_programs([str(path)], base=base)) == ["src/beside.py"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("src/none.py", "there is no file"),
        ("src/plain.py", "the file has no annotated functions"),
        ("src/*.pyx", "matches no file"),
        ("/etc/passwd.py", "the file is outside"),
        ("/etc/*.py", "functions: "),
    ],
)
def test_a_file_that_cannot_be_tested_is_an_error(base: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        find_programs([text], base=base)


def test_a_folder_inside_a_package_is_an_error(base: Path) -> None:
    with pytest.raises(ConfigurationError, match="Run ciguard in that folder"):
        find_programs(["inner.py"], base=base / "src" / "pkg")
