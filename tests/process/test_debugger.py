"""A crash under a real debugger, in a process confined as a worker is."""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import planted
from campaign_examples import bucket, finding, member
from ciguard_planted import adapter as planted_adapter

from ciguard.campaign.stages import tracing
from ciguard.config import Config
from ciguard.domain.api_calls import ApiCall, CallKind
from ciguard.domain.outcomes import Crashed
from ciguard.domain.values import LiteralValue
from ciguard.execution import DebuggerRun, Limits, NativeTrace, WorkerSpec, find_debugger
from ciguard.oracles.relations import encode
from ciguard.triage import native_frames

if TYPE_CHECKING:
    import pytest

    from ciguard.domain.findings import Bucket

DEBUGGER = find_debugger()
TARGET = "current[planted]"


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
    with DebuggerRun(spec(), encode(case), debugger=DEBUGGER) as run:
        return run.trace(limit_s)


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

    moved = replace(spec(), adapter=adapter)
    with DebuggerRun(moved, encode(case), debugger=DEBUGGER) as run:
        assert run.trace(120.0).frames


def test_debuggers_of_other_buckets_do_not_wait_for_one_that_hangs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tracing, "debuggers_at_once", lambda: 2)
    # The planted library has no native code of its own, so every frame counts.
    monkeypatch.setattr(tracing, "native_frames", lambda frames: frames)
    target = member(TARGET)
    library = replace(target.environment.library, adapter=spec().adapter)
    target.environment = replace(target.environment, library=library, readable=spec().readable)
    crashes = [found("fragile", number) for number in (-1, -2, -3)]
    until = time.monotonic() + 20.0

    buckets = [found("spin", -1), *crashes]

    seen = list(tracing.traced(buckets, {TARGET: target}, Config(), until=until))

    assert [one for one, _ in seen] == crashes
    assert all(frames for _, frames in seen)


def found(function: str, argument: int) -> Bucket:
    call = ApiCall(
        api=f"planted.{function}", kind=CallKind.FUNCTION, arguments=(LiteralValue(argument),)
    )
    return bucket(finding(Crashed("SIGSEGV", (), ""), case=call, target=TARGET))
