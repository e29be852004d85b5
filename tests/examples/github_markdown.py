"""Markdown as GitHub reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markdown_it import MarkdownIt

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markdown_it.token import Token

_PARSER = MarkdownIt("gfm-like", {"linkify": True, "html": True})
# It comes with markdown-it-py's extra; without it links would go unseen.
assert _PARSER.linkify is not None
_PARSER.linkify.set({"fuzzy_link": False})  # GitHub takes no `x.py` for an address in Paraguay


def html_of(markdown: str) -> str:
    """Return a text as a page shows it."""
    html: str = _PARSER.render(markdown)
    return html


def tokens_of(markdown: str) -> Iterator[Token]:
    """Yield all tokens but the text inside code elements, where GitHub links nothing."""
    for token in _PARSER.parse(markdown):
        yield token
        is_code = False
        for child in token.children or ():
            if child.type == "html_inline":
                is_code = (is_code or "<code>" in child.content) and "</code>" not in child.content
            if child.type != "text" or not is_code:
                yield child
