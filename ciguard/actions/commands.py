"""Workflow commands: the lines of a log that the runner executes."""

from __future__ import annotations

from typing import Literal

from ciguard.domain.text import command_text, visible

_LIMIT = 4_000
"""The runner cuts a message at 4096 characters."""


def annotation(level: Literal["error", "warning", "notice"], message: str) -> str:
    """Return the line that annotates the run with `message`, on whose text nothing depends."""
    lines = [visible(line, limit=_LIMIT) for line in message.splitlines()]
    text = "\n".join(lines)[:_LIMIT]
    return f"::{level} title=ciguard::{command_text(text)}"
