"""Commands that belong to one level: those that stand here, and those that its package declares."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from types import MappingProxyType
from typing import TYPE_CHECKING

import click

from ciguard.config import LEVEL_SETTINGS
from ciguard.errors import RegistrationError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


class LevelGroup(click.Group):
    """Commands of one level. One that its package declares is loaded when it is asked for."""

    def __init__(
        self,
        name: str,
        summary: str,
        *commands: click.Command,
        declared: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """Make the group.

        Args:
            name: of the level.
            summary: what its commands are about, a sentence.
            commands: that are loaded already.
            declared: `module:object` of others by name.
        """
        super().__init__(name, commands=commands, help=summary)
        self._declared = declared
        names = ", ".join((*self.commands, *declared))
        self.short_help = f"{summary.rstrip('.')}: {names}."

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names, without loading anything."""
        return sorted({*super().list_commands(ctx), *self._declared})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, or None if there is none of that name.

        Raises:
            RegistrationError: if it cannot be loaded, or is no command.
        """
        if cmd_name in self._declared and cmd_name not in self.commands:
            self.add_command(self._loaded(cmd_name), cmd_name)
        return super().get_command(ctx, cmd_name)

    def _loaded(self, name: str) -> click.Command:
        place = self._declared[name]
        where = f"command {name!r} of level {self.name!r} ({place})"
        try:
            command = EntryPoint(name, place, "").load()
        except (ImportError, AttributeError) as error:
            msg = f"{where} cannot be loaded: {error}"
            raise RegistrationError(msg) from error
        if not isinstance(command, click.Command):
            msg = f"{where} is no command: {command!r} is no click.Command"
            raise RegistrationError(msg)
        return command


def declared_groups() -> Iterator[LevelGroup]:
    """Yield the commands of each level whose package declares some.

    Raises:
        RegistrationError: if settings of a level cannot be loaded.
    """
    for name, level in LEVEL_SETTINGS.items().items():
        if level.commands is not None:
            yield LevelGroup(name, level.commands.summary, declared=level.commands.commands)
