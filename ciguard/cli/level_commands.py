"""Groups of commands for one level. The commands are in this package or in the level's package."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from types import MappingProxyType
from typing import TYPE_CHECKING

import click

from ciguard.cli.options import example
from ciguard.config import LEVEL_SETTINGS
from ciguard.errors import RegistrationError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


class LevelGroup(click.Group):
    """Commands of one level.

    A command that the level's package declares is loaded when it runs or its help is shown.
    """

    def __init__(
        self,
        name: str,
        summary: str,
        *commands: click.Command,
        declared: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """Create the group.

        Args:
            name: the name of the level.
            summary: the help of the group, one sentence.
            commands: commands that are already loaded.
            declared: further commands by name, each as `module:object`.
        """
        names = [*(command.name or "" for command in commands), *declared]
        super().__init__(
            name,
            commands=commands,
            help=summary,
            epilog=example(f"ciguard {name} {names[0]} --help"),
        )
        self._declared = declared
        self.short_help = f"{summary.rstrip('.')}: {', '.join(names)}."

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands without loading them."""
        return sorted({*super().list_commands(ctx), *self._declared})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, or None if the name is unknown.

        Raises:
            RegistrationError: if the object cannot be loaded, or is not a command.
        """
        if cmd_name in self._declared and cmd_name not in self.commands:
            self.add_command(self._load(cmd_name), cmd_name)
        return super().get_command(ctx, cmd_name)

    def _load(self, name: str) -> click.Command:
        place = self._declared[name]
        where = f"command {name!r} of level {self.name!r} ({place})"
        try:
            command = EntryPoint(name, place, "").load()
        except (ImportError, AttributeError) as error:
            msg = f"{where} cannot be loaded: {error}"
            raise RegistrationError(msg) from error
        if not isinstance(command, click.Command):
            msg = f"{where} is not a click.Command: {command!r}"
            raise RegistrationError(msg)
        return command


def declared_groups() -> Iterator[LevelGroup]:
    """Yield a group for each level that declares commands.

    Raises:
        RegistrationError: if settings of a level cannot be loaded.
    """
    for name, level in LEVEL_SETTINGS.items().items():
        if level.commands is not None:
            yield LevelGroup(name, level.commands.summary, declared=level.commands.commands)
