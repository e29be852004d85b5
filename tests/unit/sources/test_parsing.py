"""Files of others: any encoding, within bounds, and what is wrong with the rest."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import pytest

from ciguard.sources import UnreadableSourceError, parse, parse_file

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("source", "line", "shown"),
    [
        ("x = 1\ndef (", 2, "SyntaxError in line 2: invalid syntax"),
        (b"# coding: no-such\nx = 1", 0, "SyntaxError: unknown encoding: no-such"),
        ("(" * 5_000, 1, "SyntaxError in line 1: too many nested parentheses"),
    ],
)
def test_parse_of_invalid_source_raises_with_its_line(
    source: str | bytes, line: int, shown: str
) -> None:
    with pytest.raises(UnreadableSourceError) as caught:
        parse(source)

    assert (caught.value.line, str(caught.value)) == (line, shown)


def test_parse_file_uses_the_declared_encoding(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes("# coding: latin-1\r\nx = 'é'\r\n".encode("latin-1"))

    assert ast.unparse(parse_file(path)) == "x = 'é'"


def test_parse_file_of_a_too_large_file_raises(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("x = 1\n")

    assert ast.unparse(parse_file(path, max_bytes=6)) == "x = 1"
    with pytest.raises(UnreadableSourceError, match="larger than 5 bytes"):
        parse_file(path, max_bytes=5)


@pytest.mark.filterwarnings("error")
def test_parse_emits_no_warnings() -> None:
    assert parse(r"x = '\d' is 1").body
