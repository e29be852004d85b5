"""Text of cases and baselines commands nothing; the job's token gets nowhere."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from ciguard_command import (
    answer,
    campaign,
    descendants,
    is_under_way,
    lines_of,
    started,
    wait_until,
)

HOSTILE = "boom\n::set-env name=PWNED::1\r::error file=a,line=1::PWNED\n##[error]PWNED"
COMMAND = re.compile(r"^\s*(?:::|##\[)(?P<name>[A-Za-z-]+)")
OURS = {"group", "endgroup", "stop-commands", "error", "warning", "notice", "debug"}
GONE = "planted.gone"
SECRET = "ghs_planted0123456789secret"  # noqa: S105 - made up
QUICK = ("--exclude", "*.spin", "--max-cases", "320")


def obeyed(output: str) -> list[str]:
    """Return the lines that GitHub's runner would take for commands."""
    token = ""
    commands = []
    for line in re.split(r"\r\n|\n|\r", output):
        if token:
            token = "" if line.strip() == f"::{token}::" else token
            continue
        found = COMMAND.match(line)
        if found and found["name"] == "stop-commands":
            token = line.strip().removeprefix("::stop-commands::")
        elif found:
            commands.append(line)
    return commands


def poison(baseline: Path) -> None:
    """Write hostile text wherever a baseline holds text of a library.

    API and fingerprint become unknown ones: what is known of them is shown, and not met again.
    """
    path = baseline / "buckets.jsonl"
    header, *records = path.read_text("utf-8").splitlines()
    poisoned = [_poisoned(json.loads(record)) for record in records]
    path.write_text("\n".join([header, *map(json.dumps, poisoned)]) + "\n", "utf-8")
    corpus = baseline / "corpus.jsonl"
    cases = [json.loads(line) for line in corpus.read_text("utf-8").splitlines()]
    for stored in cases:
        stored["case"][0] = GONE
        stored["fingerprint"] = _another(stored["fingerprint"])
    corpus.write_text("".join(f"{json.dumps(stored)}\n" for stored in cases), "utf-8")


def _poisoned(tree: object) -> object:
    if not isinstance(tree, dict):
        return tree
    changed = {"message": HOSTILE, "log": HOSTILE, "detail": HOSTILE, "api": GONE}
    if "fingerprint" in tree:
        changed["fingerprint"] = _another(tree["fingerprint"])
    return {key: changed.get(key, _poisoned(value)) for key, value in tree.items()}


def _another(fingerprint: str) -> str:
    version, _, digits = fingerprint.partition(":")
    return f"{version}:{digits[::-1]}"


def test_hostile_text_of_a_baseline_is_no_workflow_command(tmp_path: Path) -> None:
    assert answer(campaign(*QUICK), tmp_path).returncode == 0
    poison(tmp_path / ".ciguard" / "baseline")
    step_summary = tmp_path / "step-summary.md"

    done = answer(
        campaign(*QUICK),
        tmp_path,
        GITHUB_ACTIONS="true",
        GITHUB_STEP_SUMMARY=str(step_summary),
    )

    commands = obeyed(done.stdout)
    assert done.returncode in {0, 1}, done.stderr
    assert commands, "groups at least"
    names = {match["name"] for line in commands if (match := COMMAND.match(line))}
    assert names <= OURS
    assert not [line for line in commands if line.startswith(("::error file=a", "##["))]
    known = [b for b in lines_of(tmp_path / ".ciguard/run/buckets.jsonl") if b["api"] == GONE]
    assert {(b["comparison"], b["message"]) for b in known} == {("not run", HOSTILE)}
    assert obeyed(done.stderr) == []


@pytest.mark.parametrize(
    "words",
    [
        ("--api", HOSTILE),
        ("--exclude", "*", "--api", "\n::error::PWNED"),
        ("--target", f"torch=={HOSTILE}"),
        ("--target", "\n::error::PWNED"),
        ("--out", "a\n::error::PWNED"),
        ("--level", "\n::error::PWNED"),
    ],
)
def test_hostile_settings_are_no_workflow_commands(tmp_path: Path, words: tuple[str, ...]) -> None:
    argv = campaign(*QUICK, *words)

    done = answer(argv, tmp_path, GITHUB_ACTIONS="true")

    assert [line for line in obeyed(done.stdout) if "PWNED" in line.partition("::")[0]] == []
    assert not [line for line in obeyed(done.stdout + done.stderr) if line.startswith("::error::P")]


def test_the_token_of_the_job_reaches_no_worker_and_no_file(tmp_path: Path) -> None:
    out = tmp_path / "out"
    tokens = {"GITHUB_TOKEN": SECRET, "ACTIONS_RUNTIME_TOKEN": SECRET, "NPM_PASSWORD": SECRET}
    argv = campaign("--out", "out", "--api", "planted.environment", "--max-cases", "480")
    seen: dict[int, bytes] = {}
    with started(argv, tmp_path, **tokens) as process:
        assert wait_until(lambda: is_under_way(out)), process.communicate()
        for pid in descendants(process.pid):
            seen[pid] = _environment_and_command(pid)
        stdout, stderr = process.communicate(timeout=120)

    assert process.returncode == 0, stderr
    assert len(seen) >= 4, "two servers, each with a worker"
    assert [pid for pid, text in seen.items() if SECRET.encode() in text] == []
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) > 8
    assert [path for path in files if SECRET.encode() in path.read_bytes()] == []
    assert SECRET not in stdout + stderr
    # The two targets differ by a variable, so what a call sees of its environment is on record.
    (shown,) = [b for b in lines_of(out / "buckets.jsonl") if b["api"] == "planted.environment"]
    assert "PYTHONHASHSEED" in json.dumps(shown["outcomes"])
    assert not [name for name in tokens if name in json.dumps(shown["outcomes"])]


def _environment_and_command(pid: int) -> bytes:
    try:
        texts = [Path(f"/proc/{pid}/{name}").read_bytes() for name in ("environ", "cmdline")]
    except OSError:
        return b""  # it ended meanwhile
    return b"\0".join(texts)
