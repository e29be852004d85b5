"""Environment of an application's process: variables, readable files and confinement."""

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
class ProcessEnvironment:
    """Environment variables, readable files and confinement of an application's process."""

    variables: Mapping[str, str] | None = None
    """Environment variables; if None, ciguard's own, without secrets if the process is confined."""
    readable: tuple[Path, ...] | None = None
    """Files that the interpreter needs; if None, those that the interpreter reports."""
    stubs: tuple[str, ...] = ()
    """Packages in place of which stubs are imported."""
    is_lenient: bool = False
    """True if packages that are missing are stubbed, and statements that fail on import skipped."""
    is_confined: bool = True
    """True if the kernel lets the process read only its own files and write only its own folder."""

    def environment_variables(self) -> Mapping[str, str] | None:
        """Return the environment variables of the process; None for ciguard's own."""
        if self.variables is not None or not self.is_confined:
            return self.variables
        inherited = {name: value for name, value in os.environ.items() if not is_secret(name)}
        # HOME changes in the process, but packages in the user's site folder must be found.
        return {"PYTHONUSERBASE": site.getuserbase(), **inherited}

    def file_access(self, python: str, root: Path, inputs: Sequence[Path]) -> FileAccess | None:
        """Return the files that the process may access; None if it is not confined.

        Args:
            python: the interpreter of the process.
            root: the folder of the application.
            inputs: folders with files that are passed to its functions.

        Raises:
            WorkerStartError: if the interpreter does not start.
        """
        if not self.is_confined:
            return None
        needed = self.readable
        if needed is None:
            variables = self.environment_variables() or {}
            needed = _reported_files(python, tuple(sorted(variables.items())))
        application = readable_paths([root], home=Path.home())
        return FileAccess(readable=(*needed, *application, *inputs), listable=(root,))


@functools.cache
def _reported_files(python: str, variables: tuple[tuple[str, str], ...]) -> tuple[Path, ...]:
    """Return the files that an interpreter needs, according to its own report."""
    program = Path(shutil.which(python) or python)
    try:
        return inspect(program, variables=dict(variables)).readable
    except ProvisioningError as error:
        msg = f"the interpreter {python} does not start: {error}"
        raise WorkerStartError(msg) from error
