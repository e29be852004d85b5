"""Templates, styles and scripts of pages; who shows more has a folder of them beside this one."""

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
"""Folder of templates, styles and scripts."""


def template_named(name: str, folder: Path = TEMPLATES) -> Template:
    """Return a template of a folder; it may include those that lie here."""
    return Environment(
        loader=FileSystemLoader([folder, TEMPLATES]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    ).get_template(name)


def own(name: str, folder: Path = TEMPLATES) -> Markup:
    """Return a file of a folder as it is."""
    # The policy names the hash of exactly these characters.
    return Markup((folder / name).read_text(encoding="utf-8"))  # noqa: S704 - our own file


def style_hash(text: str) -> str:
    """Return what a policy of a page names exactly these characters by."""
    return f"'sha256-{b64encode(sha256(text.encode('utf-8')).digest()).decode()}'"
