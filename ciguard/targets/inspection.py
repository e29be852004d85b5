"""Inspection of a target's interpreter, by a probe that runs in it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name

from ciguard.errors import ProvisioningError
from ciguard.scratch import scratch_prefix
from ciguard.targets.children import run_child
from ciguard.targets.environment import readable_paths

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

IMPORT_LIMIT_S = 1800.0
"""Timeout of an import, in seconds; long enough for a library that compiles itself first."""

_PROBE = Path(__file__).parent / "probe.py"
_TAIL_LINES = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspection:
    """Description of an interpreter and its packages, as the probe reports it."""

    python: Path
    """Path of the interpreter itself, even if a launcher such as pyenv's was started."""
    python_version: str
    """Version of the interpreter."""
    prefix: Path
    """Root folder of its environment, `sys.prefix`."""
    packages: Mapping[str, str]
    """Versions of all installed distributions, by normalised name."""
    versions: Mapping[str, str]
    """`__version__` of each imported module."""
    origins: Mapping[str, str | None]
    """File of each module that was imported or located; None if there is no such module."""
    readable: tuple[Path, ...]
    """Folders and files that processes of the interpreter must be able to read."""


def inspect(
    python: Path,
    *,
    imports: Sequence[str] = (),
    optional: Sequence[str] = (),
    to_locate: Sequence[str] = (),
    variables: Mapping[str, str],
) -> Inspection:
    """Import modules in an interpreter, locate other modules, and return its description.

    Args:
        python: the interpreter.
        imports: the modules to import.
        optional: further modules to import, whose failures are ignored.
        to_locate: the modules whose files are located without importing them.
        variables: the environment variables of its process, except for `HOME` and `TMPDIR`.

    Raises:
        ProvisioningError: if the interpreter does not start, an import fails, or no disk space is
            left for the result. The message ends with the last lines of the output.
    """
    with tempfile.TemporaryDirectory(prefix=scratch_prefix("probe")) as home:
        result_file = Path(home) / "result.json"
        request = json.dumps(
            {
                "out": str(result_file),
                "imports": [*imports],
                "optional": [*optional],
                "to_locate": [*to_locate],
            }
        )
        output = _run([str(python), str(_PROBE), request], Path(home), variables)
        if not result_file.exists():
            action = f"importing {', '.join(imports)}" if imports else "starting"
            msg = f"{action} with {python} failed:\n{output}"
            raise ProvisioningError(msg)
        try:
            result = json.loads(result_file.read_text(encoding="utf-8"))
        except json.JSONDecodeError as error:  # the file is truncated
            reason = output.rpartition("\n")[2]
            folder = tempfile.gettempdir()
            msg = (
                f"{python} could not write the description of its environment: {reason}. Free "
                f"disk space in {folder}."
            )
            raise ProvisioningError(msg) from error
    entries = [result["prefix"], result["base_prefix"], *result["path"]]
    # A package may be imported from outside the path: editable installations do that.
    entries += [os.path.dirname(origin) for origin in result["origins"].values() if origin]  # noqa: PTH120 - origins are plain strings
    return Inspection(
        python=Path(result["executable"]),
        python_version=result["python_version"],
        prefix=Path(result["prefix"]),
        packages={canonicalize_name(name): text for name, text in result["packages"].items()},
        versions=result["versions"],
        origins=result["origins"],
        readable=readable_paths(map(Path, entries), home=Path.home()),
    )


def _run(argv: Sequence[str], folder: Path, variables: Mapping[str, str]) -> str:
    """Run a program until it ends or times out, and return the last lines of its output."""
    environment = {"HOME": str(folder), "TMPDIR": str(folder), **variables}
    with (folder / "output.txt").open("wb+") as output:
        try:
            with run_child(
                argv,
                folder=folder,
                environment=environment,
                stdout=output,
                stderr=subprocess.STDOUT,
            ) as process:
                process.wait(IMPORT_LIMIT_S)
        except subprocess.TimeoutExpired:
            return f"timed out after {IMPORT_LIMIT_S:.0f} s"
        output.seek(0)
        lines = output.read().decode(errors="replace").replace("\r", "\n").splitlines()
    if process.returncode < 0:
        lines.append(f"crashed with {signal.Signals(-process.returncode).name}")
    return "\n".join([line for line in lines if line.strip()][-_TAIL_LINES:])
