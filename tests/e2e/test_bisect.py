"""`ciguard bisect` with the real uv, over tiny releases in a folder of wheels."""

from __future__ import annotations

import json
import zipfile
from typing import TYPE_CHECKING

import pytest
from ciguard_command import answer, command

from ciguard.domain.api_calls import ApiCall, CallKind
from ciguard.domain.findings import Bucket, Confirmation, Finding, Severity, bucket_to_json
from ciguard.domain.outcomes import Crashed
from ciguard.domain.values import LiteralValue
from ciguard.triage import fingerprint

if TYPE_CHECKING:
    from pathlib import Path

GOOD = "def fragile(n): return n"
BAD = "import ctypes\ndef fragile(n): return ctypes.string_at(0) if n < 0 else n"
BROKEN = "raise ImportError('built wrongly')"
OTHER = "import os\ndef fragile(n): os._exit(9)"
LACKING = ""
RELEASES = {
    "1.0": LACKING,
    "1.1": GOOD,
    "1.2": GOOD,
    "1.3": OTHER,
    "2.0": BROKEN,
    "2.1": BAD,
    "2.2": BAD,
    "3.0": GOOD,
}


def write_release(folder: Path, version: str, code: str) -> None:
    info = f"ciguard_planted-{version}.dist-info"
    about = f"Metadata-Version: 2.1\nName: ciguard-planted\nVersion: {version}\n"
    about += "Requires-Dist: numpy\n"
    tag = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    path = folder / f"ciguard_planted-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr("planted.py", f"__version__ = {version!r}\n{code}\n")
        wheel.writestr(f"{info}/METADATA", about)
        wheel.writestr(f"{info}/WHEEL", tag)
        wheel.writestr(f"{info}/RECORD", f"planted.py,,\n{info}/METADATA,,\n{info}/WHEEL,,\n")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run that met one crash, and eight releases of the library."""
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    for version, code in RELEASES.items():
        write_release(wheels, version, code)
    monkeypatch.setenv("CIGUARD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("UV_FIND_LINKS", str(wheels))
    target = "ciguard-planted==2.2"
    call = ApiCall(
        api="planted.fragile", kind=CallKind.FUNCTION, arguments=(LiteralValue(-1),), seed=1
    )
    finding = Finding(
        oracle="crash",
        kind="signal",
        severity=Severity.CRITICAL,
        library="planted",
        api=call.api,
        case=call,
        outcomes={target: Crashed("SIGSEGV")},
        targets=(target,),
        message="it died",
    )
    name = fingerprint(finding)
    bucket = Bucket(
        fingerprint=name.key,
        grouping=name.grouping,
        finding=finding,
        confirmation=Confirmation.CONFIRMED,
    )
    out = tmp_path / "out"
    out.mkdir()
    line = json.dumps(bucket_to_json(bucket))
    (out / "buckets.jsonl").write_text(line + "\n", encoding="utf-8")
    return tmp_path


def bisected(folder: Path, *words: str) -> tuple[int, list[str], str]:
    done = answer(command("bisect", "v1:", "--out", "out", "--confirmations", "1", *words), folder)
    return done.returncode, done.stdout.splitlines(), done.stderr


def test_the_first_bad_and_the_last_good_release_are_found(folder: Path) -> None:
    code, lines, errors = bisected(folder)
    again, kept, asked = bisected(folder)

    assert code == 0, errors
    assert lines[-3:] == [
        "last good: 1.2",
        "first bad: 2.1",
        "may also be a version that could not be tested: 1.3, 2.0",
    ]
    told = {line.split()[0]: line.split()[1] for line in lines[:-3]}
    assert told["1.0"] == "skipped", "it has no such API"
    assert told["1.3"] == "skipped", "it fails in another way"
    assert told["2.0"] == "skipped", "it cannot be imported"
    assert told["2.2"] == "bad"
    assert (again, kept) == (0, lines)
    assert "ciguard-planted==2.1: installing" not in asked, "what was tried is kept"


def test_newer_good_release_finds_the_fix(folder: Path) -> None:
    code, lines, errors = bisected(folder, "--good", "3.0")

    assert code == 0, errors
    assert lines[-2:] == ["last bad: 2.2", "first good: 3.0"]


def test_good_or_bad_version_with_the_wrong_status_is_rejected(folder: Path) -> None:
    code, _, errors = bisected(folder, "--good", "2.1")

    assert code == 2
    assert "2.1 is not good: SIGSEGV" in errors
