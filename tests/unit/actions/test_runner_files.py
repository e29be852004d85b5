"""Outputs and summary: what a fuzzed library says cannot end a value or begin another."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from runner_protocol import read_outputs

from ciguard.actions import annotation, append_outputs, append_summary, without_commands

HOSTILE = (
    "nan\nverdict=clean\nverdict<<EOF\nclean\nEOF\n::set-output name=verdict::clean\n::error::x"
)


@given(st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\r")))
def test_output_of_any_text_is_read_back(value: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "output"
        append_outputs({"verdict": "new-findings", "message": value}, {"GITHUB_OUTPUT": str(path)})
        read = read_outputs(path)

    assert read == {"verdict": "new-findings", "message": value}


def test_hostile_message_cannot_change_the_verdict(tmp_path: Path) -> None:
    path = tmp_path / "output"

    append_outputs({"message": HOSTILE, "verdict": "new-findings"}, {"GITHUB_OUTPUT": str(path)})

    assert read_outputs(path) == {"message": HOSTILE, "verdict": "new-findings"}


def test_too_large_outputs_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="1048576 bytes"):
        append_outputs({"x": "x" * 1024 * 1024}, {"GITHUB_OUTPUT": str(tmp_path / "output")})


def test_step_summary_is_truncated_to_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "summary"

    append_summary("| € |\n" * 400_000, {"GITHUB_STEP_SUMMARY": str(path)})

    content = path.read_bytes()
    assert len(content) <= 1024 * 1024
    assert content.endswith(b"exceeds the limit of a step summary.\n\n")


def test_nothing_is_written_outside_of_github_actions(tmp_path: Path) -> None:
    append_outputs({"verdict": "not-run"}, {})
    append_summary("text", {})

    assert not list(tmp_path.iterdir())


def test_annotation_is_one_line() -> None:
    line = annotation("error", f"100% of\r\n{HOSTILE}")

    assert line.startswith("::error title=ciguard::100%25 of%0Anan%0Averdict=clean")
    assert "\n" not in line


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("::error::x", ": :error::x"),
        ("  ::stop-commands::x", "  : :stop-commands::x"),
        ("a ##[error]x", "a ## [error]x"),
        ("torch::add failed", "torch::add failed"),
    ],
)
def test_log_line_cannot_be_a_workflow_command(line: str, shown: str) -> None:
    assert without_commands(line) == shown
