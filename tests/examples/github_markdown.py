"""Markdown as GitHub reads it."""

from __future__ import annotations

import re
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


def live_parts(markdown: str) -> str:
    """Return what is alive in a text outside of code: its elements, addresses and mentions."""
    parts = []
    for token in tokens_of(markdown):
        if token.type in {"link_open", "image"}:
            parts.append(str(token.attrs))
        elif token.type in {"html_inline", "html_block"}:
            parts.append(re.sub(r"<code>[^<]*</code>", "", token.content))
        elif token.type == "text":
            parts += re.findall(r"[@#]\w+|\bGH-\d+", token.content)
    return "\n".join(parts)
