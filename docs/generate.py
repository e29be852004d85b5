# ruff: noqa: INP001 - a script, not a module
"""Write into README.md what it quotes from the program: `make readme`. A test fails on drift."""

from __future__ import annotations

import re
from pathlib import Path

from click.testing import CliRunner

from ciguard.cli.main import ciguard
from ciguard.config import SETTINGS

README = Path(__file__).parent.parent / "README.md"
COMMANDS: tuple[list[str], ...] = ([], ["run"])


def help_section() -> str:
    """Return the help of the commands that people start with."""
    blocks = []
    for words in COMMANDS:
        shown = CliRunner().invoke(
            ciguard, [*words, "--help"], prog_name="ciguard", terminal_width=96
        )
        command = " ".join(["ciguard", *words, "--help"])
        blocks.append(f"```console\n$ {command}\n{shown.stdout.rstrip()}\n```")
    return "\n\n".join(blocks)


def settings_section() -> str:
    """Return the table of all settings."""
    rows = [
        "| key | flag | variable | default | meaning |",
        "| --- | --- | --- | --- | --- |",
    ]
    for setting in SETTINGS.values():
        key = f"`{setting.key}`" if setting.in_files else ""
        default = setting.kind.show(setting.default)
        shown = f"`{default}`" if default else ""
        rows.append(
            f"| {key} | `{setting.flag}` | `{setting.variable}` | {shown} | {setting.help} |"
        )
    return "\n".join(rows)


def with_sections(text: str) -> str:
    """Return `text` with every generated section as it should be."""
    for name, section in (("help", help_section()), ("settings", settings_section())):
        pattern = rf"(<!-- generated: {name} -->\n).*?(<!-- end -->)"
        text = re.sub(
            pattern,
            lambda match, section=section: f"{match[1]}\n{section}\n\n{match[2]}",  # type: ignore[misc]
            text,
            flags=re.DOTALL,
        )
    return text


if __name__ == "__main__":
    README.write_text(with_sections(README.read_text(encoding="utf-8")), encoding="utf-8")
