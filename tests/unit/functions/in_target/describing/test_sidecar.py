from __future__ import annotations

import json
from pathlib import Path

from annotated import Annotated

from ciguard.functions.checking import module_from_json
from ciguard.functions.in_target.calling.caller import Caller
from ciguard.functions.in_target.describing.module import Description
from ciguard.functions.in_target.describing.sidecar import apply_sidecar, target_of
from ciguard.functions.specs import is_annotated

PROGRAM = """
def scaled(x, factor=2): return x / (factor - 3)
class Model:
    def __init__(self, size): self.size = size
    def call(self, n): return self.size - n
    @staticmethod
    def same(n): return n
"""
SIDECAR = """
from ciguard.annotations import *
target = "annotated_program"
def is_small(x): return x < 5
@arg("x", ints(1, 9))
@arg("factor", ints(3, 4))
@require("is_small(x)")
def scaled(x, factor=2): ...
class Model:
    @arg("size", ints(1, 2))
    def __init__(self, size): ...
    @arg("n", ints(3, 4))
    @ensure("result < 0")
    def call(self, n): ...
    @staticmethod
    @arg("n", objs("made"))
    def same(n): ...
@generator
@exclude
@arg("n", ints(1, 2))
def made(n): return n
Model.same.__ciguard__["args"] = [("n", objs(made), 0)]
"""


def annotated(folder: Path, sidecar: str) -> tuple[Annotated, list[str]]:
    path = folder / "annotated_program.annotations.py"
    path.write_text(sidecar, "utf-8")
    program = Annotated(PROGRAM)
    problems = apply_sidecar(program.module, str(path))
    program.description = Description(program.module)
    program.spec = module_from_json(json.loads(json.dumps(program.description.json())))
    program.caller = Caller(program.module, description=program.description)
    return program, [problem["message"] for problem in problems]


def test_annotations_of_a_sidecar_are_applied_to_the_program(tmp_path: Path) -> None:
    program, problems = annotated(tmp_path, SIDECAR)

    assert problems == []
    assert program.problems == []
    assert program.statuses("scaled") == {"passed", "failed", "discarded"}
    assert program.statuses("Model.call") == {"passed"}
    assert program.statuses("Model.same") == {"passed"}


def test_the_target_of_a_sidecar_is_read_without_running_it(tmp_path: Path) -> None:
    path = tmp_path / "x.annotations.py"
    path.write_text('raise SystemExit\ntarget = "package.module"\n', "utf-8")

    assert target_of(str(path)) == "package.module"


def test_stubs_of_missing_functions_or_with_other_arguments_are_problems(tmp_path: Path) -> None:
    _, problems = annotated(
        tmp_path,
        "from ciguard.annotations import *\n"
        "@arg('x', ints())\ndef absent(x): ...\n"
        "@arg('y', ints())\ndef scaled(y): ...\n",
    )

    assert problems == [
        "module annotated_program has no absent",
        "scaled has the arguments (x, factor), but the sidecar's function has (y)",
    ]


def test_problems_in_a_sidecar_are_reported_with_its_path_and_line(tmp_path: Path) -> None:
    program, _ = annotated(
        tmp_path,
        "from ciguard.annotations import *\n"
        "@arg('x', ints())\n@arg('z', ints())\ndef scaled(x, factor=2): ...\n",
    )

    (problem,) = program.spec.problems

    assert Path(problem.file).name == "annotated_program.annotations.py"
    assert problem.line == 3
    assert problem.message == "scaled has no argument 'z'; arguments: factor, x"


def test_what_a_sidecar_cannot_annotate_is_a_problem(tmp_path: Path) -> None:
    _, problems = annotated(
        tmp_path,
        "from ciguard.annotations import *\n"
        "def scaled(x, factor=2): ...\n"
        "def helper(x): return x\n"
        "class Model:\n"
        "    def __init__(self, size): ...\n"
        "    def call(self, n):\n"
        "        @arg('m', ints())\n"
        "        def nested(m): ...\n",
    )

    assert problems == [
        "scaled has no annotation and is not tested; decorate it, for example with @include",
        (
            "a function inside Model.call cannot be annotated in a sidecar; annotate it in "
            "annotated_program itself"
        ),
    ]


def test_a_function_without_arguments_is_included(tmp_path: Path) -> None:
    program = Annotated("@include\ndef answer(): return 42\ndef other(): return 1 // 0")

    assert [function.name for function in program.spec.tested()] == ["answer"]
    assert program.statuses("answer", 1) == {"passed"}
    plain = tmp_path / "plain.py"
    plain.write_text("from ciguard.annotations import include\n@include\ndef f(): ...\n", "utf-8")
    assert is_annotated(plain)
