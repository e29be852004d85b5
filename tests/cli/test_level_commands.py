"""Commands of levels: loaded when they are asked for, refused by their name where that fails."""

from __future__ import annotations

import subprocess
import sys

import click
import pytest

from ciguard.cli.level_commands import LevelGroup
from ciguard.errors import RegistrationError


def group(**declared: str) -> LevelGroup:
    return LevelGroup("steps", "Numbers.", click.Command("count"), declared=declared)


def test_level_commands_are_listed_without_being_loaded() -> None:
    steps = group(starts="no_such_module:starts")

    assert steps.list_commands(click.Context(steps)) == ["count", "starts"]
    assert steps.short_help == "Numbers: count, starts."


@pytest.mark.parametrize(
    ("place", "problem"),
    [
        ("no_such_module:starts", r"\(no_such_module:starts\) cannot be loaded: No module named"),
        ("json:no_such_name", "cannot be loaded: module 'json' has no attribute"),
        ("json:dumps", "is not a click.Command: "),
    ],
)
def test_unloadable_level_command_is_an_error_with_its_name(place: str, problem: str) -> None:
    steps = group(starts=place)

    with pytest.raises(RegistrationError, match=f"command 'starts' of level 'steps' .*{problem}"):
        steps.get_command(click.Context(steps), "starts")


def test_help_loads_no_level_command_and_level_help_loads_no_dependencies() -> None:
    program = (
        "import sys; from ciguard.cli import main; main([*sys.argv[1:], '--help']);"
        "print(*sorted(sys.modules), file=sys.stderr)"
    )

    def loaded(*words: str) -> set[str]:
        ran = subprocess.run(
            [sys.executable, "-c", program, *words], capture_output=True, text=True, check=True
        )
        return {name for name in ran.stderr.split() if name.startswith("ciguard.levels.app.")}

    assert loaded() == {"ciguard.levels.app.settings"}
    commands = {"accuracy", "emulate", "explore", "functions", "services"}
    assert loaded("app") == {
        "ciguard.levels.app.settings",
        "ciguard.levels.app.commands",
        *(f"ciguard.levels.app.commands.{name}" for name in commands),
    }
