"""A crash under a real debugger, in a process confined as a worker is."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import planted
from ciguard_planted import adapter as planted_adapter

from ciguard.domain.api_calls import ApiCall, CallKind
from ciguard.domain.values import LiteralValue
from ciguard.execution import Limits, NativeTrace, WorkerSpec, find_debugger, run_debugger
from ciguard.oracles.relations import encode
from ciguard.triage import native_frames

DEBUGGER = find_debugger()


def spec() -> WorkerSpec:
    folders = {Path(planted.__file__).parent.parent, Path(planted_adapter.__file__).parent}
    return WorkerSpec(
        name="planted",
        python=Path(sys.executable),
        adapter=Path(planted_adapter.__file__),
        readable=(Path(sys.prefix), Path(sys.base_prefix), *folders),
        limits=Limits(case_s=2.0, memory_mib=256),
    )


def traced(function: str, *arguments: object, limit_s: float = 120.0) -> NativeTrace:
    assert DEBUGGER is not None
    values = tuple(LiteralValue(argument) for argument in arguments)  # type: ignore[arg-type]
    case = ApiCall(api=f"planted.{function}", kind=CallKind.FUNCTION, arguments=values)
    return run_debugger(spec(), encode(case), debugger=DEBUGGER, limit_s=limit_s)


def test_debugger_reports_the_stack_of_a_crash() -> None:
    seen = traced("fragile", -1)

    functions = [frame.function for frame in seen.frames]
    assert any("ffi_call" in name or "string_at" in name for name in functions), seen.text
    assert native_frames(seen.frames) == (), "the planted library has no native code of its own"


def test_a_call_that_returns_has_no_stack() -> None:
    assert traced("double", 2).frames == ()


def test_output_of_a_case_is_not_a_stack() -> None:
    assert traced("checked", 2000).frames
    assert "Check failed" not in traced("checked", 2000).text


def test_a_call_that_does_not_return_is_ended() -> None:
    assert traced("spin", -1, limit_s=10.0) == NativeTrace((), "")


def test_case_under_the_debugger_cannot_remove_a_file_outside(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("kept", encoding="utf-8")

    traced("remove", str(precious))

    assert precious.read_text("utf-8") == "kept"


def test_a_folder_with_a_space_in_its_name_is_no_obstacle(tmp_path: Path) -> None:
    folder = tmp_path / "an adapter"
    folder.mkdir()
    adapter = folder / "adapter.py"
    adapter.write_text(Path(planted_adapter.__file__).read_text("utf-8"), encoding="utf-8")
    case = ApiCall(api="planted.fragile", kind=CallKind.FUNCTION, arguments=(LiteralValue(-1),))
    assert DEBUGGER is not None

    seen = run_debugger(
        replace(spec(), adapter=adapter), encode(case), debugger=DEBUGGER, limit_s=120.0
    )

    assert seen.frames
