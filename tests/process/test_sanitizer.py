"""A case under a sanitizer: a stand-in that starts its process as the real one does."""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from ciguard_planted import device_adapter
from planted_workers import spec_of

from ciguard.domain.api_calls import ApiCall, CallKind
from ciguard.domain.outcomes import Frame
from ciguard.domain.values import ArrayValue, Constant, LiteralValue
from ciguard.execution import WorkerSpec, run_sanitizer
from ciguard.execution.sanitizer import parse_report
from ciguard.oracles.relations import encode

# As printed on an H200 by compute-sanitizer of CUDA 13.0.
REPORT = """\
========= COMPUTE-SANITIZER
========= Invalid __global__ write of size 4 bytes
=========     at far+0x80
=========     by thread (0,0,0) in block (0,0,0)
=========     Access to 0x7fb930800000 is out of bounds
=========     and is 274,638,831,105 bytes after the nearest allocation at 0x7f793ec00000
=========     Saved host backtrace up to driver entry point at kernel launch time
=========         Host Frame: __call__ in _utils.py:411
=========         Host Frame: <module> in far.py:3
=========
torch.AcceleratorError: CUDA error: unspecified launch failure
========= Target application returned an error
========= ERROR SUMMARY: 3 errors
"""
OLDER = """\
========= Invalid __global__ read of size 4
=========     at 0x160 in a.cu:6:far(void)
"""
MISALIGNED = """\
========= Misaligned __global__ read of size 4 bytes
=========     at void reduce<float>(float *)+0x1f0 in reduce.cuh:12
"""
STAND_IN = """\
import subprocess, sys
words = sys.argv[1:]
assert words[:4] == ["--tool", "memcheck", "--print-limit", "1"], words
status = subprocess.run(words[4:]).returncode
if status < 0:
    print({report!r})
else:
    print("========= ERROR SUMMARY: 0 errors")
"""


def spec() -> WorkerSpec:
    return replace(
        spec_of(name="planted@cuda"), adapter=Path(device_adapter.__file__), device="cuda:0"
    )


@pytest.fixture
def stand_in(tmp_path: Path) -> Path:
    program = tmp_path / "stand_in.py"
    program.write_text(STAND_IN.format(report=REPORT), encoding="utf-8")
    file = tmp_path / "compute-sanitizer"
    # A `#!` line ends at a space, and the interpreter's path may hold one.
    command = shlex.join([sys.executable, str(program)])
    file.write_text(f'#!/bin/sh\nexec {command} "$@"\n', encoding="utf-8")
    file.chmod(0o700)
    return file


def case(function: str, argument: ArrayValue | LiteralValue) -> bytes:
    api = function if "." in function else f"planted.device.{function}"
    return encode(ApiCall(api=api, kind=CallKind.FUNCTION, arguments=(argument,)))


ARRAY = ArrayValue("float32", (2,), Constant(1))


def test_the_kernel_and_its_error_are_named(stand_in: Path) -> None:
    seen = run_sanitizer(spec(), case("far", ARRAY), sanitizer=stand_in, limit_s=60.0)

    assert seen.frames == (Frame("Invalid __global__ write of size 4 bytes", "far"),)


def test_a_call_that_returns_shows_nothing(stand_in: Path) -> None:
    seen = run_sanitizer(spec(), case("add", ARRAY), sanitizer=stand_in, limit_s=60.0)

    assert seen.frames == ()
    assert "0 errors" in seen.text


def test_the_case_is_confined_though_the_sanitizer_is_not(stand_in: Path, tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("kept", encoding="utf-8")

    call = case("planted.remove", LiteralValue(str(precious)))
    run_sanitizer(spec(), call, sanitizer=stand_in, limit_s=60.0)

    assert precious.read_text("utf-8") == "kept"


@pytest.mark.parametrize(
    ("report", "frames"),
    [
        ("", ()),
        ("========= ERROR SUMMARY: 0 errors\n", ()),
        (
            MISALIGNED,
            (Frame("Misaligned __global__ read of size 4 bytes", "void reduce<float>(float *)"),),
        ),
        (
            OLDER,
            (Frame("Invalid __global__ read of size 4", "?"),),
        ),
        ("========= Invalid __shared__ read\n", (Frame("Invalid __shared__ read", "?"),)),
    ],
)
def test_reports_are_read(report: str, frames: tuple[Frame, ...]) -> None:
    assert parse_report(report) == frames
