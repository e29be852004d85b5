"""Level `function`: which programs, whose turn it is, which calls."""

from __future__ import annotations

import types
from typing import TYPE_CHECKING

import pytest

from ciguard.domain.case import case_to_json
from ciguard.errors import ConfigurationError
from ciguard.functions.checking import module_from_json
from ciguard.functions.in_target.describing.module import described
from ciguard.levels import focused
from ciguard.levels.function.level import FunctionLevel, FunctionTarget
from ciguard.levels.function.programs import find_programs

if TYPE_CHECKING:
    from pathlib import Path

    from ciguard.domain.values import Json

ANNOTATED = "from ciguard.annotations import arg, ints\n\n@arg('x', ints(0, 9))\ndef f(x): ...\n"


def annotated(*names: str) -> list[FunctionTarget]:
    """Return functions of one program."""
    program = types.ModuleType("m")
    text = "from ciguard.annotations import arg, ints\n"
    text += "".join(f"@arg('x', ints(0, 9))\ndef {name}(x): ...\n" for name in names)
    exec(compile(text, "m.py", "exec"), vars(program))
    module = module_from_json(described(program))
    return [FunctionTarget("m.py", module, function) for function in module.tested()]


def test_functions_take_turns_and_the_program_is_imported_first() -> None:
    level = FunctionLevel(annotated("f", "g"), 0)

    assert [level.api_of(index) for index in range(3)] == ["m.py:f", "m.py:g", "m.py:f"]
    first, second, third = (level.cases(index).cases for index in range(3))
    assert [case.api for case in first[:2]] == ["m.py", "m.py:f"]
    assert {case.api for case in second} == {"m.py:g"}
    assert {case.api for case in third} == {"m.py:f"}


def test_the_same_seed_gives_the_same_calls_whatever_else_is_tested() -> None:
    def calls(level: FunctionLevel, index: int) -> list[Json]:
        return [case_to_json(c) for c in level.cases(index).cases if c.api == "m.py:f"]

    alone, beside = FunctionLevel(annotated("f"), 3), FunctionLevel(annotated("f", "g"), 3)

    assert calls(alone, 0) == calls(alone, 0)
    assert calls(alone, 1) == calls(beside, 2)
    assert calls(alone, 1) != calls(alone, 2)
    assert calls(alone, 1) != calls(FunctionLevel(annotated("f"), 4), 1)


def test_what_a_change_reaches_comes_first_and_most() -> None:
    functions = annotated("f", "g", "h")

    level, _ = focused(FunctionLevel, functions, 0, focus=("torch.*", "m.py:h*"))

    turns = [level.cases(index).api for index in range(10)]
    assert turns[:2] == ["m.py:h", "m.py:h"]
    assert turns.count("m.py:h") == 7


def test_without_functions_there_is_no_level() -> None:
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


def test_a_glob_finds_annotated_programs_and_those_with_a_sidecar(base: Path) -> None:
    found = find_programs(["src/**/*.py"], base=base)

    assert sorted(found) == ["src/beside.py", "src/pkg/inner.py"]
    assert found["src/pkg/inner.py"].name == "pkg.inner"
    assert found["src/pkg/inner.py"].root == base / "src"
    assert found["src/beside.py"].sidecar == base / "src" / "beside.annotations.py"


def test_an_absolute_path_below_the_folder_is_taken(base: Path) -> None:
    path = base / "src" / "beside.py"

    assert list(find_programs([str(path)], base=base)) == ["src/beside.py"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("src/none.py", "there is no file"),
        ("src/plain.py", "has no annotations"),
        ("src/*.pyx", "matches no file"),
        ("/etc/passwd.py", "lies outside"),
        ("/etc/*.py", "functions: "),
    ],
)
def test_what_cannot_be_tested_is_refused(base: Path, text: str, says: str) -> None:
    with pytest.raises(ConfigurationError, match=says):
        find_programs([text], base=base)


def test_a_folder_inside_of_a_package_is_refused(base: Path) -> None:
    with pytest.raises(ConfigurationError, match="Run ciguard there"):
        find_programs(["inner.py"], base=base / "src" / "pkg")
