"""How steps speak to the runner of GitHub Actions: files of outputs, commands in the log."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_COMMAND = re.compile(r"^\s*::([\w-]+)(?: [^:]*)?::(.*)$")
_OLD_COMMAND = re.compile(r"##\[[\w-]+[^\]]*\]")


def read_outputs(path: Path) -> dict[str, str]:
    """Return what the runner reads from a file of outputs: lines, and blocks between delimiters."""
    outputs: dict[str, str] = {}
    lines = iter(path.read_text("utf-8").split("\n") if path.is_file() else [])
    for line in lines:
        name, mark, delimiter = line.partition("<<")
        if mark and "=" not in name:
            block: list[str] = []
            while (inner := next(lines)) != delimiter:
                block.append(inner)
            outputs[name] = "\n".join(block)
        elif "=" in line:
            name, _, value = line.partition("=")
            outputs[name] = value
    return outputs


def executed_commands(log: str) -> list[tuple[str, str]]:
    """Return the workflow commands that a runner executes in a log: name and text."""
    executed: list[tuple[str, str]] = []
    stopped = ""
    for line in log.splitlines():
        if stopped:
            if line.strip() == f"::{stopped}::":
                stopped = ""
            continue
        if found := _COMMAND.match(line):
            if found[1] == "stop-commands":
                stopped = found[2]
            else:
                executed.append((found[1], found[2]))
        elif _OLD_COMMAND.search(line):
            executed.append(("##", line))
    return executed
