"""The catalogue of a target's public API, and what is known of it.

It comes from the file kept in the target's environment, where that holds, else from a description
by the target itself, which is kept.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from ciguard.campaign.provenance import provenance_of
from ciguard.domain.records import Skipped, record_from_json
from ciguard.errors import ConstraintsFileError
from ciguard.files import replace_file
from ciguard.knowledge import (
    KnownApis,
    constraint_lines,
    known_of,
    read_constraints,
    read_provenance,
)
from ciguard.libraries import description_version

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ciguard.execution import Dispatcher
    from ciguard.knowledge import Provenance
    from ciguard.targets import Environment

log = logging.getLogger(__name__)


class CatalogueOrigin(StrEnum):
    """Where a catalogue comes from."""

    KEPT = "kept"
    """In the environment, where an earlier command left it."""
    DESCRIBED = "described"
    """The library has just been asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue:
    """What is known of a target's API, and whence."""

    known: KnownApis
    origin: CatalogueOrigin
    notices: tuple[str, ...] = ()
    """What a person should know, one line each: a kept file that was damaged."""


def catalogue(
    name: str, environment: Environment, dispatcher: Dispatcher, *, anew: bool = False
) -> Catalogue:
    """Return the catalogue of a target whose server is started.

    Args:
        name: the target's, as the dispatcher knows it.
        environment: where it runs.
        dispatcher: asks the target where nothing else answers.
        anew: ask the target in any case.

    Raises:
        WorkerStartError: if the library cannot be described.
    """
    notices: list[str] = []
    if not anew:
        stored = _stored(name, environment, notices)
        if stored is not None:
            return stored
    known = _described(name, environment, dispatcher)
    kept = _kept_file(environment)
    if kept is not None:
        _keep(kept, known)
    return Catalogue(known=known, origin=CatalogueOrigin.DESCRIBED, notices=tuple(notices))


def _stored(name: str, environment: Environment, notices: list[str]) -> Catalogue | None:
    path = _kept_file(environment)
    if path is None or not path.is_file():
        return None
    try:
        known = read_file(path, only_if=partial(_is_kept, environment=environment))
    except ConstraintsFileError as error:
        notices.append(f"{name}: {error} Until then the library is described again.")
        return None
    return None if known is None else Catalogue(known=known, origin=CatalogueOrigin.KEPT)


def read_file(
    path: Path, *, only_if: Callable[[Provenance], bool] = lambda _: True
) -> KnownApis | None:
    """Read a file of constraints.

    Args:
        path: of the file.
        only_if: judges by the first line whether the rest is worth reading; None is returned else.

    Raises:
        ConstraintsFileError: if it cannot be read; names file, line and key.
    """
    try:
        with path.open(encoding="utf-8") as lines:
            first = lines.readline()
            if not only_if(read_provenance(first, name=str(path))):
                return None
            return read_constraints(chain((first,), lines), name=str(path))
    except (OSError, UnicodeDecodeError) as error:
        msg = f"{path}: cannot be read: {error}. Write the file anew with `ciguard api extract`."
        raise ConstraintsFileError(msg) from error


def _described(name: str, environment: Environment, dispatcher: Dispatcher) -> KnownApis:
    lines = list(dispatcher.errands(name).describe())
    return known_of(
        [record_from_json(line) for line in lines if "skipped" not in line],
        [Skipped(name=x["skipped"], reason=x["reason"]) for x in lines if "skipped" in x],
        provenance_of(environment),
    )


def _kept_file(environment: Environment) -> Path | None:
    """Return where the catalogue is kept; None for an environment that may change under us.

    In the folder of the build: what is installed anew, such as the next nightly, begins without.
    """
    if environment.target.is_current:
        return None
    return environment.root / f"records-{environment.library.name}.jsonl"


def _is_kept(provenance: Provenance, environment: Environment) -> bool:
    library = environment.library
    same = provenance.adapter == description_version(library)
    return same and provenance.library == library.name


def _keep(path: Path, known: KnownApis) -> None:
    try:
        # Two runs that describe at once write the same.
        replace_file(path, "".join(constraint_lines(known, records_only=True)))
    except OSError as error:  # a cache that is mounted read-only or full serves as well
        log.warning("%s: what the library says of itself is not kept: %s", path, error)
