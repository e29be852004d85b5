from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from ciguard.domain.text import (
    html_code,
    markdown_block,
    markdown_code,
    markdown_text,
    shortened,
    visible,
    visible_lines,
)

if TYPE_CHECKING:
    from markdown_it.token import Token

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


MARKUP = st.text(
    alphabet=st.one_of(st.sampled_from("\\`*_[]()<>|~&;:!#@$/.w1a -+\n"), st.characters()),
    max_size=60,
)


def inline(text: str) -> list[Token]:
    """Return what GitHub's markdown makes of a text in a cell of a table."""
    tokens = MarkdownIt("gfm-like").parse(f"| a | b |\n| --- | --- |\n| x{text} | y |")
    cells = [token for token in tokens if token.type == "inline"]
    assert [cell.content for cell in (*cells[:2], cells[3])] == ["a", "b", "y"]
    children: list[Token] = cells[2].children or []
    return children


@given(MARKUP)
@example("`")
@example("a ` b `` c")
@example("\\")
@example("``` \\`")
def test_inline_code_is_the_text_and_nothing_else(text: str) -> None:
    assume("|" not in text)

    before, code = inline(markdown_code(text))

    assert before.content == "x"
    assert code.type == "code_inline"
    assert code.content == (visible(text).strip() or "(empty)")


@given(st.text(max_size=200))
def test_inline_code_with_a_pipe_can_end_neither_itself_nor_its_cell(text: str) -> None:
    code = markdown_code(f"{text}|")

    assert re.fullmatch(r"<code>(?:&#\d+;|[^`|\\\n<>&*_\[\]~@#:/])+</code>", code)


@given(MARKUP)
@example("*a* _b_ [c](d) <e> `f` ~~g~~ | &amp; &#36; :h: https://i.example www.j.example ![k](l)")
def test_markdown_text_is_the_text_and_nothing_else(text: str) -> None:
    tokens = inline(markdown_text(f"{text}."))

    assert {token.type for token in tokens} <= {"text", "text_special"}
    shown = "".join(token.content for token in tokens).replace("\u2060", "")
    assert shown == f"x{visible(f'{text}.')}".strip()


def test_markdown_text_is_readable_before_it_is_rendered() -> None:
    text = "'track_running_stats': the description says (default) True, RuntimeError: op.is_output"

    assert markdown_text(text) == text


def test_code_for_a_summary_opens_no_element() -> None:
    assert html_code("a <b> & 'c': d_e") == "<code>a &lt;b&gt; &amp; &#x27;c&#x27;: d_e</code>"


def test_markdown_text_parts_what_a_tracker_would_link() -> None:
    shown = "".join(t.content for t in inline(markdown_text("@everyone fixed #12 and GH-7, $x$")))

    assert shown == "x@\u2060everyone fixed #\u206012 and GH\u2060-7, $x$"


@given(st.text(alphabet="`~ab\n", max_size=100))
def test_a_block_is_ended_by_nothing_inside(text: str) -> None:
    first, *inside, last = markdown_block(text).split("\n")
    fence = first.removesuffix("text")

    assert last == fence
    assert not any(line.strip().startswith(fence) for line in inside)
