"""Real sessions of pytest on small annotated programs."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    Session: TypeAlias = subprocess.CompletedProcess[str]
    Run: TypeAlias = Callable[..., Session]

ROOT = Path(__file__).parents[2]
IS_INSTALLED = any(entry.name == "ciguard" for entry in entry_points(group="pytest11"))
BRANCHES = """
@arg("n", ints(0, 100))
def branches(n):
    if n > 50:
        return 1
    return 0
"""
PLUGIN = [] if IS_INSTALLED else ["-p", "ciguard.pytest_plugin"]


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str], Path]:
    """Write a program that starts with the language of annotations."""

    def write(name: str, text: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        head = "from ciguard.annotations import *\n" if name.endswith(".py") else ""
        path.write_text(head + textwrap.dedent(text), encoding="utf-8")
        return path

    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    return write


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run pytest on the programs, with the same examples each time: luck fails no test."""

    def run(
        *arguments: str,
        examples: int = 100,
        is_seeded: bool = True,
        before: tuple[str, ...] = ("-m", "pytest"),
    ) -> Session:
        command = [sys.executable, *before, *PLUGIN, "--ciguard"]
        command += [f"--ciguard-max-examples={examples}", *arguments]
        if is_seeded:
            command.append("--hypothesis-seed=0")
        own = {"CI", "PYTEST_ADDOPTS", "PYTEST_CURRENT_TEST", "PYTEST_XDIST_WORKER"}
        kept = {name: value for name, value in unmeasured().items() if name not in own}
        environment = {**kept, "PYTHONPATH": str(ROOT), "COLUMNS": "100"}
        return subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )

    return run


def unmeasured() -> dict[str, str]:
    """Return the environment without `make coverage`: these sessions measure themselves."""
    return {n: value for n, value in os.environ.items() if not n.startswith("COVERAGE_")}


def covered_lines(folder: Path, *before: str) -> dict[str, Any]:
    """Return what coverage.py has measured of model.py, after other commands of it."""
    for words in (*((word,) for word in before), ("json", "-o", "out.json")):
        subprocess.run(
            [sys.executable, "-m", "coverage", *words],
            cwd=folder,
            env=unmeasured(),
            check=True,
            capture_output=True,
        )
    found: dict[str, Any] = json.loads((folder / "out.json").read_text())["files"]["model.py"]
    return found


def counts(session: Session) -> dict[str, int]:
    """Return what the last line of a session counts."""
    last = session.stdout.strip().splitlines()[-1]
    matches = re.findall(r"(\d+) (passed|failed|error|skipped|xfailed|deselected|warning)", last)
    assert matches, session.stdout + session.stderr
    return {what: int(count) for count, what in matches}


def test_functions_pass_or_fail_with_their_call_and_a_script(
    write: Callable[[str, str], Path], run: Run, tmp_path: Path
) -> None:
    write(
        "model.py",
        """
        @arg("size", ints(min=1, max=8))
        @arg("sizes", int_lists(max_len=4, min=1, max=8))
        @require("len(sizes) <= size")
        def good(size, sizes=()):
            return size + len(sizes)

        @arg("n", ints(0, 100))
        def bad(n):
            print("called with", n)
            return inner(n)

        def inner(n):
            if n >= 40:
                raise ValueError(f"too much: {n}")

        def not_annotated(n):
            raise RuntimeError
        """,
    )

    session = run("model.py", "--junitxml=junit.xml", examples=100)

    assert session.returncode == 1
    assert counts(session) == {"passed": 1, "failed": 1}
    assert "Falsifying example: bad(n=40)" in session.stdout
    assert "called with 40" in session.stdout
    assert "called with 41" not in session.stdout
    assert re.search(r'File ".*model.py", line 1\d, in bad\n    return inner\(n\)', session.stdout)
    assert "ciguard/functions" not in session.stdout
    assert "FAILED model.py::bad - ValueError: too much: 40" in session.stdout
    assert re.search(r"bad \(.*model.py:\d+\): \d+ valid inputs, 0 discarded", session.stdout)
    assert fails_alone(session.stdout, tmp_path, "ValueError: too much: 40")
    properties = {
        case.get("name"): {p.get("name"): p.get("value") for p in case.iter("property")}
        for case in ET.parse(tmp_path / "junit.xml").iter("testcase")
    }
    assert int(properties["good"]["ciguard_valid_inputs"] or 0) > 50
    assert properties["bad"]["ciguard_failures"] == "1"


def fails_alone(report: str, folder: Path, expected: str) -> bool:
    """Run the script of a report and return whether it fails as expected."""
    script = report.partition("As a script:\n")[2]
    lines = []
    for line in script.splitlines():
        if line.strip() and not line.startswith("    "):
            break
        lines.append(line)
    path = folder / "alone.py"
    path.write_text(textwrap.dedent("\n".join(lines)), encoding="utf-8")
    alone = subprocess.run(
        [sys.executable, path],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert alone.returncode not in (0, 2), alone.stderr + path.read_text()
    assert expected in alone.stderr or expected in str(alone.returncode), alone.stderr
    return True


def test_failures_masked_by_another_are_found(write: Callable[[str, str], Path], run: Run) -> None:
    write(
        "model.py",
        """
        @arg("n", ints(0, 1000))
        @arg("flag", bools())
        def masked(n, flag):
            if n < 900:
                raise ValueError("masks")
            if flag:
                return [][n]
            return n / 0 if n == 1000 else n
        """,
    )

    session = run("model.py", examples=200)

    assert "masked" in session.stdout
    assert "3 distinct failures" in session.stdout, session.stdout
    assert "Falsifying example: masked(n=0, flag=False)" in session.stdout
    assert "Falsifying example: masked(n=900, flag=True)" in session.stdout
    assert "Falsifying example: masked(n=1000, flag=False)" in session.stdout


def test_crashes_exits_and_hangs_fail_only_their_own_test(
    write: Callable[[str, str], Path], run: Run
) -> None:
    write(
        "model.py",
        """
        import ctypes, os, signal, sys, time

        @arg("n", ints(0, 100))
        def crash(n):
            if n > 20:
                ctypes.string_at(0)

        @arg("n", ints(0, 100))
        def killed(n):
            if n > 30:
                os.kill(os.getpid(), signal.SIGKILL)

        @timeout(0.3)
        @arg("n", ints(0, 3))
        def hang(n):
            while n > 1:
                try:
                    time.sleep(0.05)
                except:
                    pass

        @timeout(0.3)
        @arg("n", ints(0, 3))
        def stuck(n):
            if n > 1:
                signal.signal(signal.SIGALRM, signal.SIG_IGN)
                time.sleep(600)

        @arg("n", ints(0, 100))
        def leaves(n):
            if n > 50:
                os._exit(3)

        @arg("n", ints(0, 100))
        def stops(n):
            if n > 60:
                sys.exit("bye")

        @arg("n", ints(0, 100))
        def after(n):
            return n
        """,
    )

    session = run("model.py")

    assert counts(session) == {"failed": 6, "passed": 1}
    for what in (
        "crash(n=21)",
        "killed(n=31)",
        "hang(n=2)",
        "stuck(n=2)",
        "leaves(n=51)",
        "stops(n=61)",
    ):
        assert f"Falsifying example: {what}" in session.stdout, session.stdout
    assert "SIGSEGV: the interpreter crashed with SIGSEGV" in session.stdout
    assert re.search(r"line \d+, in crash\n    ctypes.string_at\(0\)", session.stdout)
    assert "crashed with SIGKILL" in session.stdout
    assert "the interpreter terminated with exit status 3" in session.stdout
    assert re.search(r"line \d+, in leaves\n    os._exit\(3\)", session.stdout)
    assert "SystemExit: bye" in session.stdout
    assert session.stdout.count("takes longer than 0.3 s") >= 2
    assert re.search(r"line \d+, in stuck\n    time.sleep\(600\)", session.stdout)


def test_wrong_annotations_are_errors_while_other_functions_run(
    write: Callable[[str, str], Path], run: Run, tmp_path: Path
) -> None:
    write(
        "model.py",
        """
        @arg("m", ints())
        def wrong(n):
            pass

        @arg("n", ints())
        @require("n > 5 and n < 3")
        def never(n):
            pass

        @arg("n", ints())
        @require("str(n).startswith('x')")
        def hardly(n):
            pass

        @arg("n", ints())
        def fine(n):
            pass
        """,
    )
    impossible = write("impossible.py", '@arg("n", ints(5, 1))\ndef f(n):\n    pass\n')

    session = run("model.py")
    listed = run(".", "--collect-only")
    broken = run("impossible.py")

    assert counts(session) == {"error": 2, "failed": 1, "passed": 1}
    assert f"{tmp_path / 'model.py'}:3: wrong has no argument 'm'; arguments: n" in session.stdout
    assert 'is not annotated; add @arg("n", …)' in session.stdout
    assert re.search(r"model.py:8: .*n > 5 and n < 3", session.stdout)
    assert "hardly: all " in session.stdout
    assert "  str(n).startswith('x')\n" in session.stdout
    assert "ERROR model.py::wrong" in listed.stdout
    assert "<AnnotatedFunction fine>" in listed.stdout
    assert broken.returncode == 2
    assert f'File "{impossible}", line 2' in broken.stdout
    assert "the minimum 5 exceeds the maximum 1" in broken.stdout


def test_the_plugin_supports_xdist_keywords_marks_and_last_failed(
    write: Callable[[str, str], Path], run: Run
) -> None:
    write(
        "pkg/model.py",
        """
        import pytest
        from .other import limit

        @pytest.mark.skipif(True, reason="not here")
        @arg("n", ints())
        def skipped(n):
            raise ValueError

        @pytest.mark.xfail(raises=ZeroDivisionError, strict=True)
        @arg("n", ints(0, 3))
        def known(n):
            return 1 / n

        @pytest.mark.slow
        @arg("n", ints(0, 3))
        def marked(n):
            assert n < limit

        class Net:
            pytestmark = [pytest.mark.deep]

            @arg("width", ints(1, 4))
            def __init__(self, width):
                self.width = width

            @arg("n", ints(0, 3))
            def forward(self, n):
                return n // self.width
        """,
    )
    write("pkg/other.py", "limit = 3\n")
    write("pkg/__init__.py", "")
    write("pytest.ini", "[pytest]\nmarkers =\n  slow\n  deep\n")

    spread = run("pkg", "-n", "2", "-rA")
    by_keyword = run("pkg", "-k", "forward")
    by_mark = run("pkg", "-m", "deep")
    again = run("--lf")

    assert counts(spread) == {"passed": 2, "failed": 1, "skipped": 1, "xfailed": 1}
    assert "FAILED pkg/model.py::marked - AssertionError" in spread.stdout
    assert "Falsifying example: marked(n=3)" in spread.stdout
    assert "not here" in spread.stdout
    assert counts(by_keyword) == {"passed": 1, "deselected": 4}
    assert counts(by_mark) == {"passed": 2, "deselected": 3}
    assert counts(again) == {"failed": 1}


def test_failures_are_replayed_from_the_database_of_the_root_folder(
    write: Callable[[str, str], Path], run: Run, tmp_path: Path
) -> None:
    write(
        "sub/model.py",
        """
        import pathlib

        @arg("n", ints(0, 10**9))
        @arg("text", froms(["a", "rare"]))
        def rare(n, text):
            with pathlib.Path("calls.txt").open("a") as log:
                log.write(f"{n}\\n")
            assert n < 1000
        """,
    )

    first = run("sub", is_seeded=False)  # Hypothesis replays nothing where a seed is given.
    calls = tmp_path / "calls.txt"
    calls.unlink()
    second = run("sub", is_seeded=False)

    assert "rare(n=1000, text='a')" in first.stdout
    assert "rare(n=1000, text='a')" in second.stdout
    assert calls.read_text().split()[0] == "1000"
    assert (tmp_path / ".hypothesis" / "examples").is_dir()


def test_other_tests_are_kept_and_the_session_never_imports_the_program(
    write: Callable[[str, str], Path], run: Run
) -> None:
    write(
        "model.py",
        """
        import sys
        assert "pytest" not in sys.modules, "imported by the session"

        @arg("n", ints())
        def test(n):
            return n
        """,
    )
    write(
        "test_model.py",
        """
        def test_plain():
            pass

        @arg("n", ints(0, 5))
        def test_annotated(n):
            assert n < 5
        """,
    )

    session = run("model.py", "test_model.py", "-v")
    without = run("-o", "addopts=", "-p", "no:ciguard_off", "test_model.py", "--collect-only", "-q")

    assert counts(session) == {"passed": 2, "failed": 1}
    assert "model.py::test PASSED" in session.stdout
    assert "test_model.py::test_plain PASSED" in session.stdout
    assert "test_annotated(n=5)" in session.stdout
    assert without.stdout.count("test_annotated") == 1


def test_coverage_includes_the_process_of_the_program(
    write: Callable[[str, str], Path], run: Run, tmp_path: Path
) -> None:
    write("model.py", f"{BRANCHES}\ndef untouched():\n    return 2\n")

    session = run(
        "model.py",
        before=("-m", "coverage", "run", "--branch", "--include=model.py", "-m", "pytest"),
    )
    covered = covered_lines(tmp_path)

    assert session.returncode == 0, session.stdout
    assert covered["missing_lines"] == [10]
    assert covered["summary"]["covered_branches"] == 2


def test_coverage_of_subprocesses_is_combined_with_that_of_the_program(
    write: Callable[[str, str], Path], run: Run, tmp_path: Path
) -> None:
    (tmp_path / ".coveragerc").write_text(
        "[run]\nbranch = True\nparallel = True\ninclude = model.py\nsigterm = True\n"
        "patch = subprocess, _exit\nconcurrency = multiprocessing, thread\n"
    )
    write("model.py", BRANCHES)

    session = run("model.py", before=("-m", "coverage", "run", "-m", "pytest"))
    covered = covered_lines(tmp_path, "combine")

    assert session.returncode == 0, session.stdout + session.stderr
    assert "Traceback" not in session.stdout + session.stderr
    assert covered["missing_lines"] == []


def test_module_test_runs_the_program_as_a_script(
    write: Callable[[str, str], Path], run: Run
) -> None:
    write(
        "fine.py",
        """
        import sys
        module_test(args=tuples(froms(["--size"]), ints(1, 9)))

        if __name__ == "__main__":
            assert sys.argv[1] == "--size" and 1 <= int(sys.argv[2]) <= 9
            sys.exit(0)
        """,
    )
    write(
        "faulty.py",
        """
        import sys
        module_test(args=tuples(ints(0, 5)))

        if __name__ == "__main__":
            print("got", sys.argv)
            if int(sys.argv[1]) > 2:
                xrange(3)
        """,
    )

    session = run(".", "-v")

    assert counts(session) == {"passed": 1, "failed": 1}
    assert "fine.py::__main__ PASSED" in session.stdout
    assert "FAILED faulty.py::__main__ - NameError: name 'xrange' is not defined" in session.stdout
    assert re.search(r"Run as: python .*faulty.py 3", session.stdout)


def test_failing_constructors_and_missing_modules_skip_methods(
    write: Callable[[str, str], Path], run: Run
) -> None:
    write(
        "model.py",
        """
        class Net:
            @arg("width", ints(1, 4))
            def __init__(self, width):
                raise ValueError("never")

            @arg("n", ints(0, 3))
            def forward(self, n):
                return n
        """,
    )
    write("needs.py", 'import not_installed_anywhere\n@arg("n", ints())\ndef f(n):\n    pass\n')
    write("old.py", 'import cPickle\n@arg("n", ints())\ndef f(n):\n    pass\n')

    session = run("model.py", "needs.py", "-rs")
    old = run("old.py")

    assert counts(session) == {"failed": 1, "skipped": 2}
    assert "Falsifying example: Net(width=1)" in session.stdout
    assert "no instance could be constructed: ValueError: never" in session.stdout
    assert "not_installed_anywhere" in session.stdout
    assert old.returncode == 2
    assert "No module named 'cPickle'" in old.stdout


def test_lazy_results_are_consumed_and_arrays_are_written_as_source(
    write: Callable[[str, str], Path], run: Run, tmp_path: Path
) -> None:
    write(
        "model.py",
        """
        import numpy as np

        @arg("data", np_arrays("float32", (2, 3), min=0, max=1))
        def batches(data):
            for row in data:
                yield row[:2]
            yield data[5]

        @ensure("result.sum() < limit")
        @arg("data", np_arrays("int64", (2,), min=0, max=9))
        def total(data):
            return data * 2

        limit = 10
        """,
    )

    session = run("model.py")

    assert counts(session) == {"failed": 2}
    assert "IndexError: index 5 is out of bounds" in session.stdout
    assert "Postcondition: result.sum() < limit does not hold" in session.stdout
    assert fails_alone(session.stdout, tmp_path, "IndexError")
    rest = session.stdout.partition("As a script:\n")[2]
    assert fails_alone(rest, tmp_path, "AssertionError: result.sum() < limit")


def test_nested_functions_and_sidecars_are_collected(
    write: Callable[[str, str], Path], run: Run, tmp_path: Path
) -> None:
    write(
        "nested.py",
        """
        @arg("size", ints(1, 8))
        def build(size):
            @arg("n", ints(1, 9))
            def inner(n):
                return n // (size - 4)

            return inner
        """,
    )
    write("plain.annotations.py", '@arg("n", ints(0, 3))\ndef f(n): ...\n')
    write("aside/far.annotations.py", 'target = "far"\n@arg("n", ints(2, 3))\ndef f(n): ...\n')
    for name in ("plain", "far"):
        (tmp_path / f"{name}.py").write_text("def f(n):\n    return 1 / n\n", encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\nciguard_sidecars = aside\n", encoding="utf-8")

    session = run(".", "-v")

    assert counts(session) == {"passed": 2, "failed": 2}
    assert "far.py::f PASSED" in session.stdout
    assert "plain.py::f FAILED" in session.stdout
    shown = "build.<locals>.inner(n=1), defined by build(size=4)"
    assert f"Falsifying example: {shown}" in session.stdout
    assert fails_alone(session.stdout, tmp_path, "ZeroDivisionError")


EXPORTED = """
import numpy as np

class Thing:
    def __init__(self, n):
        self.n = n

@generator
@exclude
@arg("n", ints(1, 5))
def things(n):
    return Thing(n)

@arg("size", ints(1, 8))
@arg("sizes", int_lists(max_len=6, min=1, max=8))
@require("len(sizes) <= size")
def dependent(size, sizes=()):
    assert len(sizes) <= size
    assert len(sizes) < 5

@arg("x", np_arrays(["float32", "float64"], (2, ints(1, 4)), min=0, max=1))
@arg("y", np_arrays(ref("x.dtype"), ref("x.shape")))
@arg("z", np_arrays("float32"))
@require("z.shape == x.shape")
def shapes(x, y, z):
    assert x.shape == y.shape == z.shape and x.dtype == y.dtype
    assert x.min() >= 0 and x.max() <= 1
    return x[4]

@arg("blocks", ints(1, 5))
@arg("layers", anys(ints(1, 3), int_lists(1, 5, 1, 3)))
@require("type(layers) is not list or len(layers) == blocks")
@arg("depth", ints(10, 100))
@require("(depth - 4) % 3 == 0")
@arg("mode", froms(["a", None, 0.5, np.sum, Thing(3)]))
def dense(blocks, layers, depth, mode):
    assert (depth - 4) % 3 == 0
    if isinstance(layers, list):
        assert len(layers) == blocks
    return mode.n if isinstance(mode, Thing) else None

@arg("n", ints(0, 9))
@raises(KeyError)
@ensure("result < 9")
def declared(n):
    if n < 3:
        raise KeyError(n)
    return n

class Net:
    @arg("width", ints(0, 4))
    def __init__(self, width):
        if not width:
            raise ValueError("no width")
        self.width = width

    @arg("t", objs(things))
    def use(self, t):
        return self.width // t.n

    @arg("k", ints(1, 5))
    @arg("m", ints(1, 50))
    @require("m % k == 0 and k < m")
    def multiple(self, m, *, k):
        assert m % k == 0 and k < m
        return 1 // (m - 2 * k)

@arg("s", strings(1, 5, alphabet="ab"))
@arg("d", dicts(strings(1, 2), floats(0, 1)))
@arg("args", lists(ints(0, 3), 0, 3))
@timeout(5)
def lazy(s, d, *args):
    assert set(s) <= set("ab") and all(0 <= v <= 1 for v in d.values())
    yield from args
    yield 1 / len(d)
"""
FAULTS = {
    "dependent": "AssertionError",
    "shapes": "IndexError",
    "declared": "assert",
    "Net": "ValueError",
    "Net_multiple": "ZeroDivisionError",
    "lazy": "ZeroDivisionError",
}


@pytest.mark.slow
def test_exported_tests_run_without_ciguard_and_find_the_same_failures(
    write: Callable[[str, str], Path], run: Run, tmp_path: Path
) -> None:
    write("model.py", EXPORTED)
    shutil.copytree(ROOT / "ciguard" / "annotations", tmp_path / "annotations")
    model = tmp_path / "model.py"
    model.write_text(model.read_text().replace("ciguard.annotations", "annotations"))

    session_result = run("model.py", examples=200)
    export = subprocess.run(
        [sys.executable, "-m", "ciguard", "export", "model.py", "--output", "tests"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    hides = "import sys\nsys.modules['ciguard'] = None\n"
    (tmp_path / "tests" / "conftest.py").write_text(hides, encoding="utf-8")
    plain = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:ciguard", "tests", "-q"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert export.stdout == "tests/test_model_functions.py: functions written: 8\n", export.stderr
    assert counts(session_result) == {"failed": 6, "passed": 2}
    assert counts(plain) == {"failed": 6, "passed": 2}, plain.stdout
    for name, kind in FAULTS.items():
        assert re.search(rf"FAILED tests/.*::test_{name} - .*{kind}", plain.stdout), plain.stdout
    written = (tmp_path / "tests" / "test_model_functions.py").read_text(encoding="utf-8")
    assert "assume(" not in written
    assert "ciguard" not in written.replace("ciguard export", "").replace("__ciguard__", "")


def test_export_does_not_overwrite_tests_of_the_user(
    write: Callable[[str, str], Path], tmp_path: Path
) -> None:
    write("model.py", '@arg("n", ints())\ndef f(n):\n    pass\n')
    (tmp_path / "test_model_functions.py").write_text("mine = 1\n", encoding="utf-8")

    export = subprocess.run(
        [sys.executable, "-m", "ciguard", "export", "model.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert export.returncode == 2
    assert "was not written by `ciguard function export`. Choose another --output" in export.stderr
    assert (tmp_path / "test_model_functions.py").read_text() == "mine = 1\n"


def test_ini_options_enable_the_plugin_and_select_oracles(
    write: Callable[[str, str], Path], tmp_path: Path
) -> None:
    write(
        "model.py",
        """
        import numpy as np

        @arg("xs", int_lists(1, 3))
        def sorts(xs):
            xs.append(0)

        @arg("x", floats(0, 9))
        def undefined(x):
            return np.sqrt(np.float64(x - 10))
        """,
    )
    ini = "[pytest]\nciguard = true\nciguard_max_examples = 7\n"
    (tmp_path / "pytest.ini").write_text(ini, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", *PLUGIN, "model.py"]

    def session(*more: str) -> Session:
        return subprocess.run(
            [*command, *more],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
        )

    usual = session()
    strict = session("-o", "ciguard_oracles=exception mutation")
    wrong = session("-o", "ciguard_oracles=everything")

    assert counts(usual) == {"passed": 1, "failed": 1, "warning": 1}
    assert "sorts: the function changes arguments: xs" in usual.stdout
    assert "NaN: the result has NaN, and all arguments are finite and small" in usual.stdout
    assert counts(strict) == {"passed": 1, "failed": 1}
    assert "Mutation: the call has changed xs" in strict.stdout
    assert wrong.returncode == 4
    assert "unknown oracle. Known oracles: ensure, exception, mutation" in wrong.stderr


def test_a_slow_function_is_tested_until_its_time_budget_is_used_up(
    write: Callable[[str, str], Path], run: Run, tmp_path: Path
) -> None:
    write(
        "model.py",
        """
        import time

        @arg("n", ints(0, 9999))
        def trains(n):
            time.sleep(0.2)
        """,
    )

    def valid_inputs(*options: str) -> tuple[int, bool]:
        run("--junitxml=report.xml", *options, "model.py", examples=20)
        root = ET.parse(tmp_path / "report.xml")
        properties = {item.get("name"): item.get("value") for item in root.iter("property")}
        return int(properties["ciguard_valid_inputs"] or 0), "ciguard_stopped" in properties

    inputs, is_stopped = valid_inputs("-o", "ciguard_budget=0.5")
    assert 0 < inputs < 20
    assert is_stopped
    assert valid_inputs("-o", "ciguard_budget=0.5", "--ciguard-budget=0") == (20, False)
