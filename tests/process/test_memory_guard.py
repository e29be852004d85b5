"""The memory guard: which accesses of a native program it finds, and which it leaves alone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ciguard.domain.memory_errors import invalid_access
from ciguard.errors import ProvisioningError
from ciguard.targets import memory_guard

_PROGRAM = Path(__file__).parents[1] / "examples" / "memory_accesses.c"
_WEIGHTS = "weights (float32[25]), 100 bytes"
FOUND = {
    "read-behind": f"out-of-bounds read: 60 bytes behind {_WEIGHTS}",
    "read-far": "out-of-bounds read: 62000 bytes behind a block, 48 bytes",
    "write-behind": f"out-of-bounds write: 28 bytes behind {_WEIGHTS}",
    "write-canary": f"out-of-bounds write: 1 bytes behind {_WEIGHTS}",
    "write-canary-live": f"out-of-bounds write: 3 bytes before {_WEIGHTS}",
    "begin-read-before": f"out-of-bounds read: 8 bytes before {_WEIGHTS}",
    "begin-write-before": f"out-of-bounds write: 1 bytes before {_WEIGHTS}",
    "begin-write-canary": f"out-of-bounds write: 4 bytes behind {_WEIGHTS}",
    "read-freed": f"use after free: 16 bytes into {_WEIGHTS}",
    "write-freed": f"use after free: 0 bytes into {_WEIGHTS}",
    "free-twice": f"use after free: 0 bytes into {_WEIGHTS}",
    "malloc-behind": "out-of-bounds read: 0 bytes behind a block, 48 bytes",
    "handler": f"out-of-bounds read: 28 bytes behind {_WEIGHTS}",
}


@pytest.fixture(scope="module")
def guard(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the guard's library, compiled in a cache of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CIGUARD_CACHE", str(tmp_path_factory.mktemp("cache")))
        library = memory_guard.build_guard()
        assert memory_guard.build_guard() == library
        return library


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the program that makes the accesses, which is not optimised."""
    path = tmp_path_factory.mktemp("program") / "memory_accesses"
    command = [
        "/usr/bin/cc",
        "-O0",
        "-w",
        "-fno-builtin",
        str(_PROGRAM),
        "-o",
        str(path),
        "-lpthread",
    ]
    subprocess.run(command, check=True)
    return path


def _run(program: Path, name: str, guard: Path | None) -> subprocess.CompletedProcess[str]:
    preloaded = {} if guard is None else {"LD_PRELOAD": str(guard)}
    environment = {**os.environ, **preloaded}
    return subprocess.run(
        [program, name], env=environment, capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.parametrize("name", FOUND)
def test_an_invalid_access_is_found_and_explained(program: Path, guard: Path, name: str) -> None:
    result = _run(program, name, guard)
    assert result.returncode == -signal.SIGSEGV
    assert f"memory guard: {FOUND[name]}\n" in result.stderr
    access = invalid_access(result.stderr)
    assert access is not None
    assert FOUND[name].startswith(f"{access.cause}: {access.distance} bytes {access.side} ")


@pytest.mark.parametrize("name", ["read-behind", "write-canary", "malloc-behind"])
def test_without_the_guard_it_is_silent(program: Path, name: str) -> None:
    assert _run(program, name, None).returncode == 0


@pytest.mark.parametrize("name", ["valid", "begin-valid", "threads", "fork", "many", "reuse"])
def test_valid_accesses_are_left_alone(program: Path, guard: Path, name: str) -> None:
    result = _run(program, name, guard)
    reports = result.stderr.count("memory guard")
    assert (result.returncode, reports) == (0, 1 if name == "fork" else 0), result.stderr


def test_a_null_pointer_is_not_explained(program: Path, guard: Path) -> None:
    result = _run(program, "null", guard)
    assert result.returncode == -signal.SIGSEGV
    assert "memory guard" not in result.stderr


def test_freeing_within_a_block_aborts_as_in_the_c_library(program: Path, guard: Path) -> None:
    result = _run(program, "free-inside", guard)
    assert result.returncode == -signal.SIGABRT
    assert "free(): invalid pointer" in result.stderr


def test_the_handler_of_the_process_runs_after_the_report(program: Path, guard: Path) -> None:
    lines = _run(program, "handler", guard).stderr.strip().splitlines()
    assert lines[-1] == "own handler"
    assert lines[-2].startswith("memory guard: ")


def test_python_and_numpy_run_under_the_guard(guard: Path) -> None:
    text = (
        "import ctypes, faulthandler, sys, numpy\n"
        "faulthandler.enable()\n"
        f"sys.path.insert(0, {str(Path(memory_guard.__file__).parents[2])!r})\n"
        "from ciguard.execution.worker.guard import MemoryGuard\n"
        "guard = MemoryGuard()\n"
        "guard.adopt_arrays()\n"
        "guard.begin(0)\n"
        "guard.label('x (uint8[48])')\n"
        "array = numpy.zeros(48, 'uint8')\n"
        "assert array.sum() == 0 and numpy.sort(array + 1)[0] == 1\n"
        "guard.end()\n"
        "ctypes.string_at(array.ctypes.data + 47, 2)\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", text],
        env={**os.environ, "LD_PRELOAD": str(guard)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert result.returncode == -signal.SIGSEGV
    assert (
        "memory guard: out-of-bounds read: 0 bytes behind x (uint8[48]), 48 bytes" in result.stderr
    )
    assert "Fatal Python error: Segmentation fault" in result.stderr


def test_a_missing_compiler_is_one_clear_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CIGUARD_CACHE", str(tmp_path))
    monkeypatch.setattr(memory_guard, "_SEARCH_PATH", str(tmp_path))
    with pytest.raises(ProvisioningError, match="the memory guard is off: no C compiler"):
        memory_guard.build_guard()


def test_a_compiler_that_fails_is_one_clear_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CIGUARD_CACHE", str(tmp_path))
    compiler = tmp_path / "cc"
    compiler.write_text("#!/bin/sh\necho 'x.c:1: error: no header' >&2\nexit 1\n", "utf-8")
    compiler.chmod(0o755)
    monkeypatch.setattr(memory_guard, "_SEARCH_PATH", str(tmp_path))
    with pytest.raises(ProvisioningError, match=r"cannot compile it: x\.c:1: error: no header"):
        memory_guard.build_guard()


def test_the_source_for_scripts_has_no_comments() -> None:
    source = memory_guard.guard_source()
    assert "/*" not in source
    assert "int posix_memalign(" in source
