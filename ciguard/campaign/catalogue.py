"""The catalogue of a target's public API, with all that is known about it.

It is read from a cached file in the target's environment, if this is valid. Otherwise the target is
described, and the description is cached.
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
    known_apis,
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
    """Origin of a catalogue."""

    KEPT = "kept"
    """Read from the cache in the environment."""
    DESCRIBED = "described"
    """Described by the library just now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue:
    """Knowledge of a target's API, and its origin."""

    known: KnownApis
    """Constraints and documentation of all APIs."""
    origin: CatalogueOrigin
    """Origin of this knowledge."""
    notices: tuple[str, ...] = ()
    """Warnings for the user, such as a damaged cache file, one line each."""


def catalogue(
    name: str, environment: Environment, dispatcher: Dispatcher, *, refresh: bool = False
) -> Catalogue:
    """Return the catalogue of a target whose server is started.

    Args:
        name: name of the target, as the dispatcher knows it.
        environment: environment of the target.
        dispatcher: dispatcher with the started target.
        refresh: whether to ignore the cache.

    Raises:
        WorkerStartError: if the library cannot be described.
    """
    notices: list[str] = []
    if not refresh:
        cached = _cached(name, environment, notices)
        if cached is not None:
            return cached
    known = _described(name, environment, dispatcher)
    path = _cache_file(environment)
    if path is not None:
        _write_cache(path, known)
    return Catalogue(known=known, origin=CatalogueOrigin.DESCRIBED, notices=tuple(notices))


def _cached(name: str, environment: Environment, notices: list[str]) -> Catalogue | None:
    path = _cache_file(environment)
    if path is None or not path.is_file():
        return None
    try:
        known = read_file(path, only_if=partial(_is_valid, environment=environment))
    except ConstraintsFileError as error:
        notices.append(f"{name}: {error} Until then, every run describes the library again.")
        return None
    return None if known is None else Catalogue(known=known, origin=CatalogueOrigin.KEPT)


def read_file(
    path: Path, *, only_if: Callable[[Provenance], bool] = lambda _: True
) -> KnownApis | None:
    """Read a file of constraints.

    Args:
        path: path of the file.
        only_if: predicate of the first line; if it is false, the file is not read any further.

    Raises:
        ConstraintsFileError: if it cannot be read; names file, line and key.

    Returns:
        None if the predicate is false.
    """
    try:
        with path.open(encoding="utf-8") as lines:
            first = lines.readline()
            if not only_if(read_provenance(first, name=str(path))):
                return None
            return read_constraints(chain((first,), lines), name=str(path))
    except (OSError, UnicodeDecodeError) as error:
        msg = f"{path}: cannot be read: {error}. Write it again with `ciguard api extract`."
        raise ConstraintsFileError(msg) from error


def _described(name: str, environment: Environment, dispatcher: Dispatcher) -> KnownApis:
    lines = list(dispatcher.tasks(name).describe())
    return known_apis(
        [record_from_json(line) for line in lines if "skipped" not in line],
        [
            Skipped(name=line["skipped"], reason=line["reason"])
            for line in lines
            if "skipped" in line
        ],
        provenance_of(environment),
    )


def _cache_file(environment: Environment) -> Path | None:
    """Return the path of the cached catalogue; None for an environment that may change.

    It is in the folder of the installed build, so that a newer build, such as a nightly, has none.
    """
    if environment.target.is_current:
        return None
    return environment.root / f"records-{environment.library.name}.jsonl"


def _is_valid(provenance: Provenance, environment: Environment) -> bool:
    library = environment.library
    is_same_adapter = provenance.adapter == description_version(library)
    return is_same_adapter and provenance.library == library.name


def _write_cache(path: Path, known: KnownApis) -> None:
    try:
        # Two runs that describe at the same time write the same content.
        replace_file(path, "".join(constraint_lines(known, records_only=True)))
    except OSError as error:  # a cache that is read-only or full is not an error
        log.warning("%s: the description of the library is not cached: %s", path, error)
