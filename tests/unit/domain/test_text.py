from __future__ import annotations

import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciguard.domain import (
    markdown_block,
    markdown_code,
    markdown_text,
    shortened,
    visible,
    visible_lines,
)

HOSTILE = "\x1b[31mred\x1b[0m\r\n::set-output name=x::y\0 @everyone </details> `|` \u202e[red]"


def test_a_line_shows_control_characters_as_escapes() -> None:
    assert visible(HOSTILE) == (
        "\\x1b[31mred\\x1b[0m\\r\\n::set-output name=x::y\\x00 @everyone </details> `|` "
        "\\u202e[red]"
    )


@given(st.text(alphabet=st.characters(), max_size=500), st.integers(min_value=40, max_value=200))
def test_a_line_is_printable_and_bounded_whatever_the_text(text: str, limit: int) -> None:
    shown = visible(text, limit=limit)

    assert shown.isprintable()
    assert len(shown) <= limit


@given(st.text(alphabet=st.characters(), max_size=500))
def test_lines_keep_their_ends_and_nothing_else_that_is_not_printable(text: str) -> None:
    assert all(line.isprintable() for line in visible_lines(text).split("\n"))


def test_a_long_text_keeps_its_beginning_and_its_end() -> None:
    text = "start " + "x" * 10_000 + " end"

    short = shortened(text, 100)

    assert len(short) == 100
    assert short.startswith("start ")
    assert short.endswith(" end")
    assert "…[9910 more]…" in short


def test_a_limit_without_room_for_the_note_is_refused() -> None:
    with pytest.raises(ValueError, match="no room"):
        shortened("x" * 100, 5)


def test_a_name_is_shown_as_plain_inline_code() -> None:
    assert markdown_code("torch.nn.functional.conv2d") == "`torch.nn.functional.conv2d`"


@given(st.text(max_size=200))
def test_inline_code_can_end_neither_itself_nor_a_cell_nor_a_line(text: str) -> None:
    code = markdown_code(text)

    is_span = re.fullmatch(r"`[^`|\\\n]+`", code)
    is_element = re.fullmatch(r"<code>(?:&#\d+;|[^`|\\\n<>&*_\[\]~@#:/])+</code>", code)
    assert is_span or is_element


@given(st.text(max_size=200))
def test_markdown_text_has_no_markup_left(text: str) -> None:
    rest = re.sub(r"&#\d+;", "", markdown_text(text))

    assert not set(rest) & set("`|\\\n<>&*_[]~@#:/!(){}$^")


def test_markdown_text_parts_what_a_tracker_would_link() -> None:
    decoded = html.unescape(markdown_text("@everyone fixed #12 and GH-7, www.x.org"))

    assert decoded == "@\u2060everyone fixed #\u206012 and GH\u2060-7, www.x.org"
    assert "www." not in markdown_text("www.x.org")


@given(st.text(alphabet="`~ab\n", max_size=100))
def test_a_block_is_ended_by_nothing_inside(text: str) -> None:
    first, *inside, last = markdown_block(text).split("\n")
    fence = first.removesuffix("text")

    assert last == fence
    assert not any(line.strip().startswith(fence) for line in inside)
