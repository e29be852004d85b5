"""A case under a sanitizer: a stand-in that starts its process as the real one does."""

from __future__ import annotations

import importlib
import shlex
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from campaign_examples import bucket, finding, member
from ciguard_planted import device_adapter
from planted_workers import spec_of

from ciguard.campaign import debug
from ciguard.campaign.stages.tracing import traced
from ciguard.config import Config
from ciguard.domain.api_calls import ApiCall, CallKind
from ciguard.domain.findings import Bucket, PairKind
from ciguard.domain.outcomes import Crashed, Frame, Outcome, Passed
from ciguard.domain.values import ArrayValue, Constant, LiteralValue
from ciguard.errors import ConfigurationError
from ciguard.execution import WorkerSpec, run_sanitizer, sanitizer
from ciguard.execution.sanitizer import parse_report
from ciguard.oracles.relations import encode
from ciguard.triage.causes import cause_of

if TYPE_CHECKING:
    from ciguard.campaign.group import Member

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
UNINITIALISED = """\
========= COMPUTE-SANITIZER
========= Uninitialized __global__ memory read of size 4 bytes
=========     at vectorAdd(int *)+0x70 in /home/cuda/Initcheck/memset_error.cu:41
=========     by thread (31,0,0) in block (1,0,0)
=========     Address 0x7f3c7ec000fc
=========
========= ERROR SUMMARY: 192 errors
"""
RACE = """\
========= COMPUTE-SANITIZER
========= Error: Race reported between Write access at axis_sum(int *)+0x90 in probe.cu:13
=========     and Read access at axis_sum(int *)+0xa0 in probe.cu:14 [2048 hazards]
=========
========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)
"""
STAND_IN = """\
import subprocess, sys
words = sys.argv[1:]
assert words[0] == "--tool", words
words = words[1:]
tool = words.pop(0)
if tool == "memcheck":
    assert words[:2] == ["--report-api-errors", "no"], words
    words = words[2:]
assert words[:2] == ["--print-limit", "1"], words
status = subprocess.run(words[2:]).returncode
print("ran", tool)
if tool == "memcheck" and status < 0:
    print({report!r})
elif tool == {finding!r}:
    print({other!r})
else:
    print("========= ERROR SUMMARY: 0 errors")
"""
ERROR = (
    "Invalid __global__ write of size 4 bytes, by thread (0,0,0) in block (0,0,0), "
    "Access to 0x7fb930800000 is out of bounds"
)


def spec() -> WorkerSpec:
    return replace(
        spec_of(name="planted@cuda"), adapter=Path(device_adapter.__file__), device="cuda:0"
    )


def stand_in_at(folder: Path, *, finding: str = "", other: str = "") -> Path:
    """Write a sanitizer whose tool `finding` reports `other` for calls that return."""
    program = folder / "stand_in.py"
    text = STAND_IN.format(report=REPORT, finding=finding, other=other)
    program.write_text(text, encoding="utf-8")
    file = folder / "compute-sanitizer"
    # A `#!` line ends at a space, and the interpreter's path may hold one.
    command = shlex.join([sys.executable, str(program)])
    file.write_text(f'#!/bin/sh\nexec {command} "$@"\n', encoding="utf-8")
    file.chmod(0o700)
    return file


@pytest.fixture
def stand_in(tmp_path: Path) -> Path:
    return stand_in_at(tmp_path)


def case(function: str, argument: ArrayValue | LiteralValue) -> bytes:
    api = function if "." in function else f"planted.device.{function}"
    return encode(ApiCall(api=api, kind=CallKind.FUNCTION, arguments=(argument,)))


ARRAY = ArrayValue("float32", (2,), Constant(1))


def test_the_kernel_and_its_error_are_named(stand_in: Path) -> None:
    seen = run_sanitizer(spec(), case("far", ARRAY), sanitizer=stand_in, limit_s=60.0)

    assert seen.frames == (Frame(ERROR, "far"),)
    assert "ran initcheck" not in seen.text


@pytest.mark.parametrize(
    ("tool", "report", "frame"),
    [
        (
            "initcheck",
            UNINITIALISED,
            Frame(
                "Uninitialized __global__ memory read of size 4 bytes, "
                "by thread (31,0,0) in block (1,0,0), Address 0x7f3c7ec000fc",
                "vectorAdd(int *)",
            ),
        ),
        (
            "racecheck",
            RACE,
            Frame(
                "Race reported between Write access, "
                "and Read access at axis_sum(int *)+0xa0 in probe.cu:14 [2048 hazards]",
                "axis_sum(int *)",
            ),
        ),
    ],
)
def test_the_other_tools_find_what_is_no_invalid_access(
    tmp_path: Path, tool: str, report: str, frame: Frame
) -> None:
    sanitizer = stand_in_at(tmp_path, finding=tool, other=report)

    seen = run_sanitizer(spec(), case("add", ARRAY), sanitizer=sanitizer, limit_s=60.0)

    assert seen.frames == (frame,)
    assert f"ran {tool}" in seen.text


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
        (OLDER, (Frame("Invalid __global__ read of size 4", "far(void)"),)),
        (
            (
                "========= Invalid __shared__ read of size 4 bytes\n"
                "=========     at 0x578 in /home/me/task1.cu:120:Multiply(Matrix, Matrix)\n"
            ),
            (Frame("Invalid __shared__ read of size 4 bytes", "Multiply(Matrix, Matrix)"),),
        ),
        (
            (
                "========= Invalid __global__ read of size 4 bytes\n"
                "=========     at 0x1b8 in kernel(float *, float *)\n"
                "=========     Address 0x7f7a4e000000 is out of bounds\n"
            ),
            (
                Frame(
                    "Invalid __global__ read of size 4 bytes, "
                    "Address 0x7f7a4e000000 is out of bounds",
                    "kernel(float *, float *)",
                ),
            ),
        ),
        (
            "========= Invalid __global__ read of size 8 bytes\n=========     at 0x10 in a.cu:7\n",
            (Frame("Invalid __global__ read of size 8 bytes", "?"),),
        ),
        ("========= Warning: Race reported between Write access at x+0x1 in a.cu:1\n", ()),
        ("========= Invalid __shared__ read\n", (Frame("Invalid __shared__ read", "?"),)),
    ],
)
def test_reports_are_read(report: str, frames: tuple[Frame, ...]) -> None:
    assert parse_report(report) == frames


TARGET = "current[planted]@cuda"


def traced_member() -> Member:
    on_cpu = member(TARGET)
    library = replace(on_cpu.environment.library, adapter=Path(device_adapter.__file__))
    environment = replace(on_cpu.environment, library=library, readable=spec().readable)
    on_cpu.environment = environment
    on_cpu.identity = replace(on_cpu.identity, device="cuda:0")
    return on_cpu


def found(function: str, outcome: Outcome, number: int = 1, **changes: Any) -> Bucket:
    argument = replace(ARRAY, fill=Constant(number))
    tested = ApiCall(
        api=f"planted.device.{function}", kind=CallKind.FUNCTION, arguments=(argument,)
    )
    shown = replace(finding(outcome, case=tested, target=TARGET), **changes)
    return bucket(shown)


def test_kernel_of_a_lost_device_is_the_native_frame_and_the_cause(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{stand_in_at(tmp_path).parent}:/usr/bin:/bin")
    lost = found("far", Crashed.from_device_error("illegal memory access", (), ""))
    members, until = {TARGET: traced_member()}, time.monotonic() + 60

    ((_, frames),) = traced([lost], members, Config(), until=until)

    assert frames == (Frame(ERROR, "far"),)
    cause = cause_of(replace(lost, native_stack=frames))
    assert (cause.kind, cause.text) == ("native frames", "far")
    unknown = replace(lost, native_stack=(Frame(ERROR, "?"),))
    assert cause_of(unknown).kind != "native frames"


def test_few_differences_of_values_on_a_device_are_traced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sanitizer = stand_in_at(tmp_path, finding="memcheck", other=UNINITIALISED)
    monkeypatch.setenv("PATH", f"{sanitizer.parent}:/usr/bin:/bin")
    pair: dict[str, Any] = {"oracle": "differential", "kind": "values", "pair": PairKind.DEVICE}
    passed = Passed(b'["n"]', 0.1)
    many = [found("add", passed, number, **pair) for number in range(5)]
    in_shape = found("add", passed, **{**pair, "kind": "shape"})
    members, until = {TARGET: traced_member()}, time.monotonic() + 60

    results = list(traced([in_shape, *many], members, Config(), until=until))

    assert [one for one, _ in results] == many[:3]
    assert results[0][1][0].function == "vectorAdd(int *)"


def test_one_bucket_of_a_device_runs_under_the_sanitizer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost = found("far", Crashed.from_device_error("illegal memory access", (), ""))
    environment = traced_member().environment
    module = importlib.import_module("ciguard.campaign.reproduce")
    monkeypatch.setattr(module, "provision", lambda *_, **__: environment)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sanitizer, "_INSTALLED", tmp_path / "absent")
    with pytest.raises(ConfigurationError, match="no compute-sanitizer"):
        debug(lost, TARGET, Config())

    stand_in_at(tmp_path)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert debug(lost, TARGET, Config()).frames == (Frame(ERROR, "far"),)
