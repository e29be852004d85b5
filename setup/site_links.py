"""Hook of mkdocs: links of pages to files outside `docs/` lead to the project's repository."""

from __future__ import annotations

import posixpath
import re
from typing import Protocol

from ciguard.project import this_project

_LINK = re.compile(r"\[(?P<text>[^\]]*)\]\((?P<path>(?:\.\./)+[^)#\s]+)(?P<anchor>#[^)\s]*)?\)")


class Page(Protocol):
    """What is needed of a page of mkdocs."""

    file: File


class File(Protocol):
    """What is needed of a file of mkdocs."""

    src_uri: str


def on_page_markdown(markdown: str, *, page: Page, **_: object) -> str:
    """Return a page whose links out of `docs/` are addresses; their text alone if none is known."""
    folder = posixpath.dirname(f"docs/{page.file.src_uri}")
    project = this_project()

    def outside(link: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(folder, link["path"]))
        if path.startswith("docs/"):
            return link[0]
        address = project.document(path)
        return f"[{link['text']}]({address}{link['anchor'] or ''})" if address else link["text"]

    return _LINK.sub(outside, markdown)
