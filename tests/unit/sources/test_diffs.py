"""Lines and paths as Python and git write them."""

from __future__ import annotations

import pytest

from ciguard.sources import diff_of, git_lines, source_lines, unquoted_path


def test_source_lines_splits_at_carriage_returns_and_git_lines_does_not() -> None:
    text = "a\rb\r\nc\x0cd\u2028e\nf"

    assert source_lines(text) == ["a\r", "b\r\n", "c\x0cd\u2028e\n", "f"]
    assert git_lines(text) == ["a\rb\r\n", "c\x0cd\u2028e\n", "f"]
    assert source_lines("") == git_lines("") == []


@pytest.mark.parametrize("file", ["a.py", "my app/é.py", 'a "quoted".py', "back\\slash.py", "t\tb"])
def test_path_round_trips_through_a_diff(file: str) -> None:
    head, _, _ = diff_of(file, "a\n", "b\n").partition("\n")

    assert unquoted_path(head.removeprefix("--- ")) == f"a/{file}"


def test_diff_of_marks_a_last_line_without_an_end() -> None:
    assert diff_of("a", "x", "y").splitlines()[-4:] == [
        "-x",
        "\\ No newline at end of file",
        "+y",
        "\\ No newline at end of file",
    ]
    assert not diff_of("a", "x", "x")
