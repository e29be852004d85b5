"""The files through which a step answers the runner: outputs and the summary.

A value may hold what a fuzzed library said. Each is written between delimiters that were drawn
after the value was known, so that no line of it can end it and begin another output.
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
"""What is longer is refused by the runner: outputs of a step as a whole, and its summary."""
_LEFT_OUT = "\n\nThe rest is left out: it is longer than a step summary may be.\n"


def append_outputs(outputs: Mapping[str, str], environment: Mapping[str, str]) -> None:
    """Set outputs of this step; outside of GitHub Actions nobody asks for them.

    Raises:
        ValueError: if they are larger than the runner takes.
    """
    text = "".join(_entry(name, value) for name, value in outputs.items())
    if len(text.encode("utf-8")) > LIMIT_BYTES:
        msg = f"outputs of more than {LIMIT_BYTES} bytes"
        raise ValueError(msg)
    _append(environment.get(OUTPUT_VARIABLE), text)


def append_summary(markdown: str, environment: Mapping[str, str]) -> None:
    """Add to the step's summary, as much of it as the runner takes."""
    content = markdown.encode("utf-8", "replace")
    room = LIMIT_BYTES - len(_LEFT_OUT)
    if len(content) > room:
        whole, _, _ = content[:room].rpartition(b"\n")
        content = whole + _LEFT_OUT.encode()
    _append(environment.get(SUMMARY_VARIABLE), content.decode("utf-8", "ignore") + "\n")


def _entry(name: str, value: str) -> str:
    delimiter = f"ciguard-{secrets.token_hex(16)}"
    return f"{name}<<{delimiter}\n{value}\n{delimiter}\n"


def _append(path: str | None, text: str) -> None:
    if path:
        with Path(path).open("a", encoding="utf-8") as stream:
            stream.write(text)
