"""The files by which a step sets its outputs and its summary.

A value may contain text from fuzzed calls. It is written between random delimiters, so that no line
of the value can end the value and start another output.
"""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

OUTPUT_VARIABLE = "GITHUB_OUTPUT"
SUMMARY_VARIABLE = "GITHUB_STEP_SUMMARY"
LIMIT_BYTES = 1024 * 1024
"""Maximum size of all outputs of a step, and of its summary, set by the runner."""
_TRUNCATED = "\n\nThe rest is omitted: it exceeds the limit of a step summary.\n"


def append_outputs(outputs: Mapping[str, str], environment: Mapping[str, str]) -> None:
    """Set outputs of this step; do nothing outside of GitHub Actions.

    Raises:
        ValueError: if the outputs exceed the runner's limit.
    """
    text = "".join(_entry(name, value) for name, value in outputs.items())
    if len(text.encode("utf-8")) > LIMIT_BYTES:
        msg = f"the outputs of this step have more than {LIMIT_BYTES} bytes, the runner's limit"
        raise ValueError(msg)
    _append(environment.get(OUTPUT_VARIABLE), text)


def append_summary(markdown: str, environment: Mapping[str, str]) -> None:
    """Append a text to the step's summary; do nothing outside of GitHub Actions.

    Lines beyond the runner's limit are left out.
    """
    content = markdown.encode("utf-8", "replace")
    limit = LIMIT_BYTES - len(_TRUNCATED)
    if len(content) > limit:
        complete_lines, _, _ = content[:limit].rpartition(b"\n")
        content = complete_lines + _TRUNCATED.encode()
    _append(environment.get(SUMMARY_VARIABLE), content.decode("utf-8", "ignore") + "\n")


def _entry(name: str, value: str) -> str:
    delimiter = f"ciguard-{secrets.token_hex(16)}"
    return f"{name}<<{delimiter}\n{value}\n{delimiter}\n"


def _append(path: str | None, text: str) -> None:
    if path:
        with Path(path).open("a", encoding="utf-8") as stream:
            stream.write(text)
