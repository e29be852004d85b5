from __future__ import annotations

import io
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from ciguard.domain.events import BatchFinished, Event, RunFinished, RunStarted
from ciguard.domain.findings import Verdict
from ciguard.reports import Destination
from ciguard.reports.closing import closing_lines
from ciguard.reports.github import GithubReporter
from ciguard.reports.plain import PlainReporter
from ciguard.reports.terminal import TerminalReporter

if TYPE_CHECKING:
    from collections.abc import Callable

FOLDER = Path(".ciguard/run")


def _plain(events: list[Event], kind: type[PlainReporter] = PlainReporter) -> str:
    stream = io.StringIO()
    reporter = kind(Destination(folder=FOLDER, stream=stream))
    for event in events:
        reporter.receive(event)
    reporter.close()
    return stream.getvalue()


def _terminal(events: list[Event], width: int = 110) -> str:
    console = Console(file=io.StringIO(), record=True, width=width, force_terminal=True)
    destination = Destination(folder=FOLDER, stream=io.StringIO())
    reporter = TerminalReporter(destination, console=console)
    for event in events:
        reporter.receive(event)
    reporter.close()
    return console.export_text()


def test_last_screen_shows_verdict_buckets_and_next_steps(
    finished: Callable[..., RunFinished],
) -> None:
    text = "\n".join(line.text for line in closing_lines(finished(), folder=FOLDER))

    assert "NEW FINDINGS: 11 new buckets at or above medium" in text
    assert "Buckets: 12 new, 1 known, 1 fixed, 1 flaky, 1 not run" in text
    assert "tensorflow critical: 10 new" in text
    assert "abcd0001 new         tf.raw_ops.MaxPool3D  SIGABRT: Check failed" in text
    assert "torch==2.13.0@cuda     NOT RUN: no such device" in text
    assert "ciguard show abcd0001" in text
    assert ".ciguard/run/report.html" in text


def test_last_screen_counts_no_apis_if_none_was_called(
    finished: Callable[..., RunFinished],
) -> None:
    usual, of_functions = (
        "\n".join(line.text for line in closing_lines(event, folder=FOLDER))
        for event in (finished(), replace(finished(), apis_exercised={}))
    )

    assert "1,400 of " in usual
    assert " APIs, " in usual
    assert " APIs, " not in of_functions
    assert " cases: " in of_functions


def test_api_is_not_repeated_if_the_message_starts_with_it(
    finished: Callable[..., RunFinished],
) -> None:
    bucket = finished().buckets[-1]
    finding = replace(bucket.finding, message=f"{bucket.finding.api} ends the process (SIGSEGV)")
    event = finished(buckets=(replace(bucket, finding=finding),))

    text = "\n".join(line.text for line in closing_lines(event, folder=FOLDER))

    assert f"{finding.api}  ends the process (SIGSEGV)" in text


def test_last_screen_is_bounded_for_many_buckets(
    finished: Callable[..., RunFinished],
) -> None:
    many = finished(buckets=finished().buckets * 500)

    lines = closing_lines(many, folder=FOLDER, width=100)

    assert len(lines) < 45
    assert all(len(line.text) <= 100 for line in lines if not line.is_verdict)


def test_last_screen_without_buckets_suggests_no_command(
    finished: Callable[..., RunFinished],
) -> None:
    clean = finished(buckets=(), verdict=Verdict.CLEAN, summary="Nothing new.")

    text = "\n".join(line.text for line in closing_lines(clean, folder=FOLDER))

    assert "NOTHING NEW: Nothing new." in text
    assert "Buckets: 0 new" in text
    assert "ciguard show" not in text


def test_no_console_ever_shows_a_control_character_of_a_case(events: list[Event]) -> None:
    for text in (_plain(events), _plain(events, GithubReporter)):
        assert re.sub(r"[\n -\U0010ffff]", "", text) == ""
        assert "\u202e" not in text


def test_the_terminal_shows_markup_and_escapes_of_a_case_as_text(events: list[Event]) -> None:
    shown = _terminal(events).replace("\n", "")

    assert "[red]bold[/red]" in shown
    assert "\\x1b[2J\\x1b[31m\\x00" in shown
    assert "\x00" not in shown


def test_the_live_table_has_a_row_per_target_and_the_state_of_the_run(events: list[Event]) -> None:
    text = _terminal(events[:-1])

    assert re.search(r"torch==2\.13\.0 +\d+ +64 +40 +24 +· +· +· +·", text)
    assert "2 buckets · 1 critical · 1 high · 1 flaky" in text
    assert "torch==2.13.0@cuda: not run: no such device" in text


def test_a_narrow_terminal_gets_the_table_too(events: list[Event]) -> None:
    assert "crash" in _terminal(events[:-1], width=80)


def test_plain_reporter_writes_the_run_from_plan_to_verdict(events: list[Event]) -> None:
    text = _plain(events)
    first_pass = "called 1,892 selected APIs after 62.0 s; 489 excluded (removed 298, files 191)"
    assert f"tensorflow: {first_pass}" in text

    assert text.startswith("ciguard: api on torch==2.13.0, tensorflow-cpu==2.12.0,")
    assert "seed 7, budget 3m, results in .ciguard/run" in text
    assert "abcd0001 critical crash/signal tf.raw_ops.MaxPool3D: SIGABRT: Check failed" in text
    assert "abcd0006 flaky" in text
    assert text.index("== Run ==") < text.index("NEW FINDINGS")


def test_plain_reporter_writes_progress_every_ten_seconds() -> None:
    now_s = [0.0]
    stream = io.StringIO()
    reporter = PlainReporter(Destination(folder=FOLDER, stream=stream), clock=lambda: now_s[0])
    reporter.receive(
        RunStarted(targets=("t",), levels=("api",), seed=0, budget_s=60, jobs=1, out="o")
    )

    for _ in range(50):
        now_s[0] += 0.5
        reporter.receive(
            BatchFinished(target="t", api="a", counts={"passed": 100}, elapsed_s=now_s[0])
        )

    progress = [line for line in stream.getvalue().splitlines() if " left, " in line]
    assert progress == [
        "0:50 left, provision: 2,000 cases (200/s), 0 buckets",
        "0:40 left, provision: 4,000 cases (200/s), 0 buckets",
    ]


def test_in_github_actions_only_commands_of_the_reporter_are_executed(events: list[Event]) -> None:
    executed: list[str] = []
    token = ""
    for line in _plain(events, GithubReporter).splitlines():
        if token:
            token = "" if line.strip() == f"::{token}::" else token
        elif line.startswith("::stop-commands::"):
            token = line.removeprefix("::stop-commands::")
            assert len(token) == 32
        elif "::" in line or "##[" in line:
            executed.append(line)

    assert executed[:2] == ["::group::Run", "::endgroup::"]
    assert all(re.match(r"::(error|warning|notice) (file=|title=)", line) for line in executed[2:])
    assert len(executed) == 2 + 10 + 1 + 2
    assert token == ""


def test_in_github_actions_every_token_is_used_once(events: list[Event]) -> None:
    tokens = re.findall(r"::stop-commands::(\w+)", _plain(events, GithubReporter))

    assert len(tokens) == len(set(tokens)) == 3 + 13
