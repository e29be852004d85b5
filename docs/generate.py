# ruff: noqa: INP001 - a script, not a module
"""Write into pages what they quote from the program: `make readme`. A test fails on drift."""

from __future__ import annotations

import re
from pathlib import Path

import yaml
from click.testing import CliRunner

from ciguard.cli.main import ciguard
from ciguard.config import SETTINGS
from ciguard.oracles import RELATIONS

README = Path(__file__).parent.parent / "README.md"
RELATIONS_PAGE = Path(__file__).parent / "relations.md"
ACTION_PAGE = Path(__file__).parent / "action.md"
ACTION = README.parent / "action.yml"
PAGES = (README, RELATIONS_PAGE, ACTION_PAGE)
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


def relations_section() -> str:
    """Return the table of all metamorphic relations."""
    rows = ["| relation | law | source | tried |", "| --- | --- | --- | --- |"]
    for name, relation in sorted(RELATIONS.items().items()):
        turns = "every turn" if relation.every == 1 else f"every {relation.every} turns"
        if relation.weight > 1:
            turns += f", {relation.weight} times as often"
        rows.append(f"| {name} | {relation.law} | {relation.source} | {turns} |")
    return "\n".join(rows)


def inputs_section() -> str:
    """Return the table of the action's inputs."""
    rows = ["| input | default | meaning |", "| --- | --- | --- |"]
    for name, known in yaml.safe_load(ACTION.read_text(encoding="utf-8"))["inputs"].items():
        default = f"`{known['default']}`" if known["default"] else ""
        rows.append(f"| `{name}` | {default} | {known['description']} |")
    return "\n".join(rows)


def outputs_section() -> str:
    """Return the table of the action's outputs."""
    rows = ["| output | meaning |", "| --- | --- |"]
    for name, known in yaml.safe_load(ACTION.read_text(encoding="utf-8"))["outputs"].items():
        rows.append(f"| `{name}` | {known['description']} |")
    return "\n".join(rows)


def with_sections(text: str) -> str:
    """Return `text` with every generated section as it should be."""
    sections = {
        "help": help_section,
        "settings": settings_section,
        "relations": relations_section,
        "inputs": inputs_section,
        "outputs": outputs_section,
    }
    for name, section_of in sections.items():
        if f"<!-- generated: {name} -->" not in text:
            continue
        section = section_of()
        pattern = rf"(<!-- generated: {name} -->\n).*?(<!-- end -->)"
        text = re.sub(
            pattern,
            lambda match, section=section: f"{match[1]}\n{section}\n\n{match[2]}",  # type: ignore[misc]
            text,
            flags=re.DOTALL,
        )
    return text


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(with_sections(page.read_text(encoding="utf-8")), encoding="utf-8")
