"""Starts the probe in a target's interpreter and reads its answer."""

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
from ciguard.targets.children import child
from ciguard.targets.environment import readable_paths

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

IMPORT_LIMIT_S = 1800.0
"""For a library that compiles itself on a slow machine; others take seconds."""

_PROBE = Path(__file__).parent / "probe.py"
_TAIL_LINES = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspection:
    """What an interpreter says of itself."""

    python: Path
    """The interpreter itself, where a launcher such as pyenv's was asked."""
    python_version: str
    prefix: Path
    packages: Mapping[str, str]
    """By normalised name."""
    versions: Mapping[str, str]
    """`__version__` of each imported module."""
    origins: Mapping[str, str | None]
    """File of each module that was imported or looked for; None if there is no such module."""
    readable: tuple[Path, ...]


def inspect(
    python: Path,
    *,
    imports: Sequence[str] = (),
    finds: Sequence[str] = (),
    variables: Mapping[str, str],
) -> Inspection:
    """Import modules in an interpreter, look for others, and return what it is.

    Raises:
        ProvisioningError: if it does not start or an import fails, with its last words, or if there
            is no space for what it says.
    """
    with tempfile.TemporaryDirectory(prefix="ciguard-probe-") as home:
        answer = Path(home) / "answer.json"
        request = json.dumps({"out": str(answer), "imports": [*imports], "finds": [*finds]})
        last_words = _run([str(python), str(_PROBE), request], Path(home), variables)
        if not answer.exists():
            what = f"importing {', '.join(imports)}" if imports else "starting"
            msg = f"{what} with {python} failed:\n{last_words}"
            raise ProvisioningError(msg)
        try:
            said = json.loads(answer.read_text(encoding="utf-8"))
        except json.JSONDecodeError as error:  # it was cut off
            why = last_words.rpartition("\n")[2]
            place = tempfile.gettempdir()
            msg = f"{python} could not write down what it is: {why}. Free some space in {place}."
            raise ProvisioningError(msg) from error
    entries = [said["prefix"], said["base_prefix"], *said["path"]]
    # A package may be imported from outside the path: editable installations do that.
    entries += [os.path.dirname(origin) for origin in said["origins"].values() if origin]  # noqa: PTH120
    return Inspection(
        python=Path(said["executable"]),
        python_version=said["python_version"],
        prefix=Path(said["prefix"]),
        packages={canonicalize_name(name): text for name, text in said["packages"].items()},
        versions=said["versions"],
        origins=said["origins"],
        readable=readable_paths(map(Path, entries), home=Path.home()),
    )


def _run(argv: Sequence[str], folder: Path, variables: Mapping[str, str]) -> str:
    """Run to the end or the limit; return the last lines of what was printed."""
    environment = {"HOME": str(folder), "TMPDIR": str(folder), **variables}
    with (folder / "said.txt").open("wb+") as said:
        try:
            with child(
                argv, folder=folder, environment=environment, stdout=said, stderr=subprocess.STDOUT
            ) as process:
                process.wait(IMPORT_LIMIT_S)
        except subprocess.TimeoutExpired:
            return f"it did not end within {IMPORT_LIMIT_S:.0f} s"
        said.seek(0)
        lines = said.read().decode(errors="replace").replace("\r", "\n").splitlines()
    if process.returncode < 0:
        lines.append(f"ended by {signal.Signals(-process.returncode).name}")
    return "\n".join([line for line in lines if line.strip()][-_TAIL_LINES:])
