"""The template of an issue's text, which a project may replace.

All values that the template gets are escaped.
"""

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
"""Names of values that are paragraphs of markdown. All but `summary` and `footer` may be empty."""
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
"""Names of values that are single facts as inline markdown; a fact is empty if it is unknown."""
_MAX_BYTES = 1 << 16
_TEMPLATE_ERRORS = (
    TemplateError,
    ArithmeticError,
    AttributeError,
    LookupError,
    TypeError,
    ValueError,
)


class IssueTemplate:
    """A Jinja template with placeholders for the values of a bucket."""

    def __init__(self, path: Path = BUILT_IN) -> None:
        """Read the template and fill it once, so that errors appear before the campaign.

        Raises:
            ConfigurationError: if the template is invalid; the message names file and line.
        """
        self._path = path
        environment = ImmutableSandboxedEnvironment(
            undefined=StrictUndefined,
            autoescape=False,  # the output is markdown, not HTML, and all values are escaped
            trim_blocks=True,
            lstrip_blocks=True,
        )
        try:
            self._template = environment.from_string(read_text(path, most=_MAX_BYTES))
        except (OSError, ValueError) as error:
            msg = (
                f"issue-template = {str(path)!r}: cannot be read: {error}. Name a readable text "
                "file."
            )
            raise ConfigurationError(msg) from error
        except TemplateSyntaxError as error:
            msg = f"{path}, line {error.lineno}: {error.message}. Correct the template."
            raise ConfigurationError(msg) from error
        self.fill(dict.fromkeys((*PARTS, *FACTS), "x"))

    def fill(self, values: Mapping[str, str]) -> str:
        """Return the text of an issue.

        Args:
            values: a value for each name in `PARTS` and `FACTS`, as escaped markdown.

        Raises:
            ConfigurationError: if the template uses another name, or an expression fails.
        """
        try:
            return self._template.render(values).strip()
        except _TEMPLATE_ERRORS as error:
            known = ", ".join((*PARTS, *FACTS))
            msg = (
                f"{self._path}: {error}. Correct the template, which can use these values: {known}."
            )
            raise ConfigurationError(msg) from error


@cache
def built_in() -> IssueTemplate:
    """Return the built-in template."""
    return IssueTemplate()
