"""What an application has around it when it runs: variables, files, and what it may do."""

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
    """What an application has around it."""

    variables: Mapping[str, str] | None = None
    """Its environment; None: ciguard's own, without what looks like a secret if it is confined."""
    readable: tuple[Path, ...] | None = None
    """Files that its interpreter needs; None: what the interpreter itself reports."""
    is_confined: bool = True
    """Whether the kernel holds it to reading its own files and writing a folder of its own."""

    def environment(self) -> Mapping[str, str] | None:
        """Return the environment of its process; None for ciguard's own."""
        if self.variables is not None or not self.is_confined:
            return self.variables
        own = {name: value for name, value in os.environ.items() if not is_secret(name)}
        # Its home is another folder; what was installed for the user alone is still there.
        return {"PYTHONUSERBASE": site.getuserbase(), **own}

    def held(self, python: str, root: Path, inputs: Sequence[Path]) -> FileAccess | None:
        """Return what its process may reach; None if it is not confined.

        Args:
            python: its interpreter.
            root: folder of the application.
            inputs: folders with files that its functions are called with.

        Raises:
            WorkerStartError: if the interpreter does not start.
        """
        if not self.is_confined:
            return None
        needed = self.readable
        if needed is None:
            needed = _reported(python, tuple(sorted((self.environment() or {}).items())))
        own = readable_paths([root], home=Path.home())
        return FileAccess(readable=(*needed, *own, *inputs), listable=(root,))


@functools.cache
def _reported(python: str, variables: tuple[tuple[str, str], ...]) -> tuple[Path, ...]:
    """Return what an interpreter reports that it needs to read."""
    program = Path(shutil.which(python) or python)
    try:
        return inspect(program, variables=dict(variables)).readable
    except ProvisioningError as error:
        msg = f"{python} does not start: {error}"
        raise WorkerStartError(msg) from error
