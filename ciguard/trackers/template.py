"""The template of an issue's text. A project may bring its own; what it is given is escaped."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import StrictUndefined, TemplateError, TemplateSyntaxError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from ciguard.errors import ConfigurationError
from ciguard.files import read_text

if TYPE_CHECKING:
    from collections.abc import Mapping

BUILT_IN = Path(__file__).parent / "issue.md.j2"
PARTS = (
    "summary",
    "members",
    "expected",
    "origin",
    "difference",
    "since",
    "script",
    "outcomes",
    "evidence",
    "cause",
    "others",
    "grouping",
    "note",
    "footer",
)
"""Paragraphs of markdown; each may be empty but the first and the last."""
FACTS = (
    "api",
    "library",
    "level",
    "oracle",
    "kind",
    "severity",
    "class",
    "fingerprint",
    "targets",
    "commit",
    "first_seen",
    "again",
)
"""Single facts as inline markdown; empty where they are unknown."""
_MAX_BYTES = 1 << 16
_MISTAKES = (TemplateError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


class IssueTemplate:
    """A text with places for what is known of a bucket."""

    def __init__(self, path: Path = BUILT_IN) -> None:
        """Read the template and fill it once, so that a mistake shows before the campaign.

        Raises:
            ConfigurationError: naming file, line and mistake.
        """
        self._path = path
        environment = ImmutableSandboxedEnvironment(
            undefined=StrictUndefined,
            autoescape=False,  # this is markdown, and every value is escaped for that
            trim_blocks=True,
            lstrip_blocks=True,
        )
        try:
            self._template = environment.from_string(read_text(path, most=_MAX_BYTES))
        except (OSError, ValueError) as error:
            msg = f"issue-template = {str(path)!r}: {error}. Write the path of a readable file."
            raise ConfigurationError(msg) from error
        except TemplateSyntaxError as error:
            msg = f"{path}, line {error.lineno}: {error.message}. Mend the template."
            raise ConfigurationError(msg) from error
        self.fill(dict.fromkeys((*PARTS, *FACTS), "x"))

    def fill(self, values: Mapping[str, str]) -> str:
        """Return the text.

        Args:
            values: every one of `PARTS` and `FACTS`, as markdown that holds nothing alive.

        Raises:
            ConfigurationError: if the template asks for something else, or computes what cannot be.
        """
        try:
            return self._template.render(values).strip()
        except _MISTAKES as error:
            known = ", ".join((*PARTS, *FACTS))
            msg = f"{self._path}: {error}. Mend the template; it may use {known}."
            raise ConfigurationError(msg) from error


@cache
def built_in() -> IssueTemplate:
    """Return the template that comes with ciguard."""
    return IssueTemplate()
