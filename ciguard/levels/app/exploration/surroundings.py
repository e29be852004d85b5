"""Surroundings of an application's process: environment variables, files and confinement."""

from __future__ import annotations

import functools
import os
import shutil
import site
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ciguard.errors import ProvisioningError, WorkerStartError
from ciguard.execution import FileAccess
from ciguard.targets import inspect, is_secret, readable_paths

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """Environment variables, readable files and confinement of an application's process."""

    variables: Mapping[str, str] | None = None
    """Environment variables; None: ciguard's own, without secrets if it is confined."""
    readable: tuple[Path, ...] | None = None
    """Files that its interpreter needs; None: the files that the interpreter reports."""
    is_confined: bool = True
    """True if the kernel restricts it to reading its own files and writing its own folder."""

    def environment(self) -> Mapping[str, str] | None:
        """Return the environment of its process; None for ciguard's own."""
        if self.variables is not None or not self.is_confined:
            return self.variables
        own = {name: value for name, value in os.environ.items() if not is_secret(name)}
        # HOME changes in the process, but packages of the user's site must be found.
        return {"PYTHONUSERBASE": site.getuserbase(), **own}

    def held(self, python: str, root: Path, inputs: Sequence[Path]) -> FileAccess | None:
        """Return the restrictions of its process; None if it is not confined.

        Args:
            python: the interpreter of the process.
            root: the folder of the application.
            inputs: folders with files that are arguments of its functions.

        Raises:
            WorkerStartError: if the interpreter does not start.
        """
        if not self.is_confined:
            return None
        needed = self.readable
        if needed is None:
            needed = _reported_files(python, tuple(sorted((self.environment() or {}).items())))
        own = readable_paths([root], home=Path.home())
        return FileAccess(readable=(*needed, *own, *inputs), listable=(root,))


@functools.cache
def _reported_files(python: str, variables: tuple[tuple[str, str], ...]) -> tuple[Path, ...]:
    """Return the files that an interpreter reports to need."""
    program = Path(shutil.which(python) or python)
    try:
        return inspect(program, variables=dict(variables)).readable
    except ProvisioningError as error:
        msg = f"{python} does not start: {error}"
        raise WorkerStartError(msg) from error
