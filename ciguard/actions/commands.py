"""Workflow commands: lines of a log that the runner executes."""

from __future__ import annotations

from typing import Literal

from ciguard.domain.text import command_text, visible

_LIMIT = 4_000
"""Maximum number of characters of a message; the runner truncates at 4096."""


def annotation(level: Literal["error", "warning", "notice"], message: str) -> str:
    """Return the workflow command that annotates the run with `message`.

    The message may contain text from fuzzed calls, so it is escaped.
    """
    lines = [visible(line, limit=_LIMIT) for line in message.splitlines()]
    text = "\n".join(lines)[:_LIMIT]
    return f"::{level} title=ciguard::{command_text(text)}"
