"""Findings on annotated functions: simpler valid calls, and scripts that run."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import ciguard
import ciguard.annotations as every
from ciguard.domain.findings import Evidence, Finding, PairKind, Severity
from ciguard.domain.function_calls import FunctionCase
from ciguard.domain.outcomes import Errored, Passed
from ciguard.domain.values import ArrayValue, Explicit, LiteralValue
from ciguard.functions.checking import called_program_json, is_valid, module_from_json
from ciguard.functions.drawing import call_sampler
from ciguard.functions.in_target.calling.judging import has_nan
from ciguard.functions.in_target.worker import Runner
from ciguard.functions.specs import Call
from ciguard.functions.writing import (
    ANNOTATIONS_STAND_IN,
    ELEMENTS_HELPER,
    NAN_HELPER,
    STATE_HELPER,
)
from ciguard.triage import EnvironmentHint, script
from ciguard.triage.reductions import reductions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.domain.outcomes import Outcome
    from ciguard.domain.values import Json, Value

PROGRAM = """\
import numpy as np
from ciguard.annotations import arg, ensure, floats, froms, ints, np_arrays, require, timeout


@arg("x", ints(2, 9))
@arg("y", np_arrays("float64", ("n",), min=1, max=2))
@require("x > 2")
@ensure("result < 3")
def f(x, y):
    if x == 9:
        raise ValueError("nine")
    return x


@arg("x", np_arrays("float64", (2,)))
def zeroed(x):
    x[0] = 0
    return x / x


@arg("x", ints(0, 9))
@timeout(0.001)
def slow(x):
    return sum(range(10**6))


@arg("x", ints(0, 9))
def lazily(x):
    return map(lambda i: i // 0, [x])


@arg("step", froms([lambda: 1 // 0]))
def called(step):
    return step()


class Net:
    @arg("size", ints(1, 9))
    def __init__(self, size):
        self.size = size

    @arg("x", ints(0, 9))
    def run(self, x):
        return x / (self.size - self.size)
"""
HINT = EnvironmentHint(install=("torch==2.13.0",))


@pytest.fixture(autouse=True)
def _interpreter() -> Iterator[None]:
    path = sys.path[:]
    yield
    sys.path[:] = path
    sys.modules.pop("scripted_program", None)


@pytest.fixture
def description(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Json:
    """Return the description of the program, which lies in `src` of the current folder."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "scripted_program.py").write_text(PROGRAM, "utf-8")
    monkeypatch.chdir(tmp_path)
    file, program = "src/scripted_program.py", {"root": "src", "name": "scripted_program"}
    runner = Runner(
        {"folder": str(tmp_path), "files": {file: {**program, "sidecar": ""}}},
        lambda _: None,
        lambda _: False,
    )
    record = runner.describe({"file": file, "calls": []})
    return {**record["description"], **program, "library": ""}


def case(description: Json, name: str, constructor: Any = None, **arguments: Value) -> FunctionCase:
    call = Call(function=name, arguments=tuple(arguments.items()), constructor=constructor)
    file = description["file"]
    about = called_program_json(description, name)
    return FunctionCase(api=f"{file}:{name}", file=file, call=call.to_json(), seed=7, about=about)


def finding(case: FunctionCase, kind: str, exception: str, **changes: Any) -> Finding:
    return Finding(
        **{
            "oracle": "function",
            "kind": kind,
            "severity": Severity.HIGH,
            "library": "planted",
            "api": case.api,
            "case": case,
            "outcomes": {"one": Errored(exception, "src/scripted_program.py:3: why")},
            "targets": ("one",),
            "message": "it fails",
            "evidence": Evidence(observed="it fails"),
            **changes,
        }
    )


def run_script(reported: Finding, *, with_ciguard: bool = False) -> tuple[int, str]:
    """Run the script like a user, in the current folder, with numpy and the program alone.

    Args:
        reported: the finding.
        with_ciguard: whether ciguard is installed.
    """
    text = script(reported, environment_hint=HINT)
    assert ("with ciguard installed" in text) is with_ciguard
    folders = [Path(np.__file__).parents[1]] + [Path(ciguard.__file__).parents[1]] * with_ciguard
    hidden = "" if with_ciguard else 'sys.modules["ciguard.annotations"] = None'
    bare = f"import sys; sys.path += {list(map(str, folders))!r}; {hidden}\n{text}"
    done = subprocess.run(
        [sys.executable, "-S", "-c", bare], capture_output=True, text=True, check=False, timeout=60
    )
    return done.returncode, done.stderr + done.stdout


def array(*numbers: float) -> ArrayValue:
    return ArrayValue("float64", (len(numbers),), Explicit(numbers))


def test_simpler_calls_conform_to_the_annotations(description: Json) -> None:
    function_case = case(description, "f", x=LiteralValue(9), y=array(1.5, 1.25))

    simpler = reductions(function_case)

    module = module_from_json(called_program_json(description, "f"))
    calls = [
        Call.from_json(simplified.call)
        for simplified in simpler
        if isinstance(simplified, FunctionCase)
    ]
    assert len(calls) > 3
    assert all(is_valid(call, module) for call in calls)
    assert {dict(call.arguments)["x"] for call in calls} <= {
        LiteralValue(number) for number in range(3, 10)
    }


def test_a_call_without_a_description_is_not_simplified(description: Json) -> None:
    function_case = case(description, "f", x=LiteralValue(9), y=array(1.5))
    bare = FunctionCase(api=function_case.api, file=function_case.file, call=function_case.call)

    assert reductions(bare) == []
    with pytest.raises(ValueError, match="is malformed"):
        script(finding(bare, "exception", "ValueError"), environment_hint=HINT)


@pytest.mark.parametrize(
    ("name", "arguments", "failure", "expected"),
    [
        ("f", {"x": LiteralValue(9), "y": array(1.0)}, ("exception", "ValueError"), "nine"),
        ("f", {"x": LiteralValue(4), "y": array(1.0)}, ("ensure", "@ensure"), "AssertionError"),
        ("zeroed", {"x": array(1.0, 2.0)}, ("nan", "NaN"), "BROKEN: the result has NaN"),
        ("zeroed", {"x": array(1.0, 2.0)}, ("mutation", ""), "BROKEN: changed ['x']"),
        ("slow", {"x": LiteralValue(1)}, ("timeout", "@timeout"), "BROKEN: took"),
        ("lazily", {"x": LiteralValue(1)}, ("exception", "ZeroDivisionError"), "by zero"),
    ],
)
@pytest.mark.lengthy
def test_a_script_fails_like_the_function(
    description: Json,
    name: str,
    arguments: dict[str, Value],
    failure: tuple[str, str],
    expected: str,
) -> None:
    code, output = run_script(finding(case(description, name, **arguments), *failure))

    assert code == 1, output
    assert expected in output


def test_a_method_is_called_on_an_instance(description: Json) -> None:
    function_case = case(description, "Net.run", (("size", LiteralValue(4)),), x=LiteralValue(1))

    code, output = run_script(finding(function_case, "exception", "ZeroDivisionError"))

    assert code == 1
    assert "ZeroDivisionError" in output


def test_a_case_that_only_imports_has_a_script(description: Json) -> None:
    file = description["file"]
    function_case = FunctionCase(
        api=file, file=file, about={**called_program_json(description, "f"), "functions": []}
    )

    code, output = run_script(finding(function_case, "import", "ImportError"))

    assert (code, output.strip()) == (0, "imported")


def test_a_script_compares_the_result_with_another_targets(description: Json) -> None:
    function_case = case(description, "f", x=LiteralValue(4), y=array(1.0))
    outcomes: dict[str, Outcome] = {"one": Passed(b'["i","5"]', 0.1), "two": Passed(b"4", 0.1)}
    other = finding(
        function_case, "values", "", oracle="differential", outcomes=outcomes,
        targets=("one", "two"), pair=PairKind.VERSION,
    )  # fmt: skip

    code, output = run_script(other)

    assert code == 1
    assert "DIFFERENT: 4 instead of 5" in output


SIDECAR = """\
from ciguard.annotations import *

LIMIT = 3


@generator
@exclude
@arg("n", ints(1, 2))
def made(n):
    return {"n": n}


class Odd:
    pass


@arg("x", objs(made))
@arg("kind", froms([Odd, len]))
@ensure("result < LIMIT")
def f(x, kind): ...
"""


@pytest.mark.parametrize(
    ("n", "failure", "expected"),
    [(1, ("exception", "TypeError"), "TypeError"), (2, ("ensure", "@ensure"), "AssertionError")],
)
def test_a_script_uses_the_generators_and_conditions_of_a_sidecar(
    n: int, failure: tuple[str, str], expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = "def f(x, kind):\n    return 5 if x['n'] == 2 else kind(1) + x['n']\n"
    (tmp_path / "scripted_program.py").write_text(program, "utf-8")
    (tmp_path / "scripted_program.annotations.py").write_text(SIDECAR, "utf-8")
    monkeypatch.chdir(tmp_path)
    file, about = "scripted_program.py", {"root": ".", "name": "scripted_program"}
    sidecar = {**about, "sidecar": "scripted_program.annotations.py"}
    runner = Runner(
        {"folder": str(tmp_path), "files": {file: sidecar}}, lambda _: None, lambda _: False
    )
    record = runner.describe({"file": file, "calls": []})
    described = {**record["description"], **about, "library": ""}
    call = next(call for call in _calls(described) if dict(call["arguments"])["x"][3] == [["n", n]])
    function_case = FunctionCase(
        api=f"{file}:f", file=file, call=call, about=called_program_json(described, "f")
    )

    code, output = run_script(finding(function_case, *failure))

    assert code == 1, output
    assert expected in output


def test_a_script_that_looks_up_annotations_needs_ciguard(description: Json) -> None:
    module = module_from_json(called_program_json(description, "called"))
    call = call_sampler(module.function("called"), module)(random.Random(0))
    assert call is not None
    reported = finding(
        case(description, "called", **dict(call.arguments)), "exception", "ZeroDivisionError"
    )

    code, output = run_script(reported, with_ciguard=True)

    assert code == 1
    assert "ZeroDivisionError" in output


def test_the_header_installs_numpy_with_which_the_script_is_seeded(description: Json) -> None:
    reported = finding(case(description, "f", x=LiteralValue(9)), "exception", "ValueError")
    older = EnvironmentHint(install=("torch==2.3.0", "numpy<2"))

    assert "Install: pip install torch==2.13.0 numpy\n" in script(reported, environment_hint=HINT)
    assert "Install: pip install torch==2.3.0 'numpy<2'\n" in script(
        reported, environment_hint=older
    )


VALUES = (
    0, 2.5, float("nan"), complex(0, float("nan")), "text", None, object(),
    np.array([1.0, np.nan]), np.array([1, 2]), np.array(["a"]), np.float32("nan"),
    np.ma.masked_invalid([1.0, np.nan]), [1.0, (2.0, {"a": np.array(np.nan)})], {1.0, 2.0},
)  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=range(len(VALUES)))
def test_scripts_find_nan_and_changes_as_the_level_does(value: object) -> None:
    scope: dict[str, Any] = {"np": np}
    for text in (ELEMENTS_HELPER, NAN_HELPER, STATE_HELPER):
        exec(text, scope)

    assert scope["has_nan"](value) == has_nan(value)
    assert scope["state"](value) == scope["state"](value)


@pytest.mark.parametrize(
    "changed",
    [
        [np.array([1.0, 3.0]), {"a": [1]}],
        [np.array([1.0, 2.0], "float32"), {"a": [1]}],
        [np.array([[1.0, 2.0]]), {"a": [1]}],
        [np.array([1.0, 2.0]), {"a": [True]}],
        [np.array([1.0, 2.0]), {"b": [1]}],
        [np.array([1.0, 2.0]), {"a": [1, 1]}],
    ],
    ids=repr,
)
def test_the_state_of_an_argument_differs_after_a_change(changed: object) -> None:
    scope: dict[str, Any] = {"np": np}
    exec(f"{ELEMENTS_HELPER}\n{STATE_HELPER}", scope)

    assert scope["state"]([np.array([1.0, 2.0]), {"a": [1]}]) != scope["state"](changed)


def test_scripts_replace_all_names_of_annotations() -> None:
    scope: dict[str, Any] = {"sys": SimpleNamespace(modules={})}
    exec(ANNOTATIONS_STAND_IN.replace("import ciguard.annotations", "raise ImportError"), scope)

    assert vars(scope["ciguard"].annotations).keys() >= {*every.__all__}


def test_annotations_have_no_effect_without_ciguard(tmp_path: Path) -> None:
    program = (
        "from ciguard.annotations import *\n"
        "import ciguard.annotations as notes\n"
        "from typing import Annotated\n\n"
        "@include\n@raises(ValueError)\n@require(lambda x: x > 1)\n@arg('x', ints(1, 2))\n"
        "def f(x: Annotated[int, Range(1, 5)]):\n    return 'own', x\n\n"
        "@module_test\n@notes.timeout(2)\ndef g():\n    return f(3)\n\nmodule_test()\n"
        "print(g())\n"
    )
    text = (
        f"import sys\nsys.modules['ciguard.annotations'] = None\n{ANNOTATIONS_STAND_IN}\n{program}"
    )
    (tmp_path / "program.py").write_text(text, "utf-8")

    done = subprocess.run(
        [sys.executable, "-SI", tmp_path / "program.py"],
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip

    assert done.stdout == "('own', 3)\n", done.stderr


def _calls(described: Json) -> Iterator[Json]:
    module = module_from_json(described)
    sample, rng = call_sampler(module.function("f"), module), random.Random(0)
    while True:
        call = sample(rng)
        if call is not None:
            yield call.to_json()
