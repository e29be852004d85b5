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


def test_visible_escapes_control_characters() -> None:
    assert visible(HOSTILE) == (
        "\\x1b[31mred\\x1b[0m\\r\\n::set-output name=x::y\\x00 @everyone </details> `|` "
        "\\u202e[red]"
    )


@given(st.text(alphabet=st.characters(), max_size=500), st.integers(min_value=40, max_value=200))
def test_visible_returns_printable_text_within_the_limit(text: str, limit: int) -> None:
    shown = visible(text, limit=limit)

    assert shown.isprintable()
    assert len(shown) <= limit


@given(st.text(alphabet=st.characters(), max_size=500))
def test_visible_lines_keeps_only_line_ends_unescaped(text: str) -> None:
    assert all(line.isprintable() for line in visible_lines(text).split("\n"))


def test_shortened_keeps_beginning_and_end() -> None:
    text = "start " + "x" * 10_000 + " end"

    short = shortened(text, 100)

    assert len(short) == 100
    assert short.startswith("start ")
    assert short.endswith(" end")
    assert "…[9910 more]…" in short


def test_shortened_with_too_small_a_limit_raises() -> None:
    with pytest.raises(ValueError, match="too small"):
        shortened("x" * 100, 5)


def test_markdown_code_of_a_name_is_a_code_span() -> None:
    assert markdown_code("torch.nn.functional.conv2d") == "`torch.nn.functional.conv2d`"


MARKUP = st.text(
    alphabet=st.one_of(st.sampled_from("\\`*_[]()<>|~&;:!#@$/.w1a -+\n"), st.characters()),
    max_size=60,
)


def inline(text: str) -> list[Token]:
    """Return the inline tokens of a text in a table cell of GitHub's markdown."""
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
def test_markdown_code_renders_as_one_code_span_with_the_text(text: str) -> None:
    assume("|" not in text)

    before, code = inline(markdown_code(text))

    assert before.content == "x"
    assert code.type == "code_inline"
    assert code.content == (visible(text).strip() or "(empty)")


@given(st.text(max_size=200))
def test_markdown_code_with_a_pipe_closes_neither_element_nor_cell(text: str) -> None:
    code = markdown_code(f"{text}|")

    assert re.fullmatch(r"<code>(?:&#\d+;|[^`|\\\n<>&*_\[\]~@#:/])+</code>", code)


@given(MARKUP)
@example("*a* _b_ [c](d) <e> `f` ~~g~~ | &amp; &#36; :h: https://i.example www.j.example ![k](l)")
def test_markdown_text_renders_as_the_text_without_markup(text: str) -> None:
    tokens = inline(markdown_text(f"{text}."))

    assert {token.type for token in tokens} <= {"text", "text_special"}
    shown = "".join(token.content for token in tokens).replace("\u2060", "")
    assert shown == f"x{visible(f'{text}.')}".strip()


def test_markdown_text_of_plain_sentences_is_unchanged() -> None:
    text = "'track_running_stats': the description says (default) True, RuntimeError: op.is_output"

    assert markdown_text(text) == text


def test_html_code_escapes_html() -> None:
    assert html_code("a <b> & 'c': d_e") == "<code>a &lt;b&gt; &amp; &#x27;c&#x27;: d_e</code>"


def test_markdown_text_splits_mentions_and_references() -> None:
    shown = "".join(t.content for t in inline(markdown_text("@everyone fixed #12 and GH-7, $x$")))

    assert shown == "x@\u2060everyone fixed #\u206012 and GH\u2060-7, $x$"


@given(st.text(alphabet="`~ab\n", max_size=100))
def test_markdown_block_cannot_be_closed_by_its_text(text: str) -> None:
    first, *inside, last = markdown_block(text).split("\n")
    fence = first.removesuffix("text")

    assert last == fence
    assert not any(line.strip().startswith(fence) for line in inside)
