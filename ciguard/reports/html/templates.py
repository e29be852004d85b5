"""Reads the templates, styles and scripts of pages from this folder, or from a given one."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

if TYPE_CHECKING:
    from jinja2 import Template

TEMPLATES = Path(__file__).parent
"""Folder with the templates, styles and scripts that all pages share."""


def template_named(name: str, folder: Path = TEMPLATES) -> Template:
    """Return the template of a folder; it may include templates of `TEMPLATES`."""
    return Environment(
        loader=FileSystemLoader([folder, TEMPLATES]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    ).get_template(name)


def file_markup(name: str, folder: Path = TEMPLATES) -> Markup:
    """Return the text of a file of ciguard as markup, which templates do not escape."""
    # The text stays unchanged, as the page's content security policy has its hash.
    return Markup((folder / name).read_text(encoding="utf-8"))  # noqa: S704 - a file of ciguard is trusted


def style_hash(text: str) -> str:
    """Return the source expression of a content security policy for a text: its SHA-256 hash."""
    return f"'sha256-{b64encode(sha256(text.encode('utf-8')).digest()).decode()}'"
