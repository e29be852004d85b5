"""Lookup of the knowledge of an API by its name, without an installation where possible."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from ciguard.campaign.catalogue import read_file
from ciguard.campaign.experience import ExperienceStore
from ciguard.campaign.extract import extract
from ciguard.campaign.shipped import shipped_files
from ciguard.domain.text import visible
from ciguard.errors import ConfigurationError
from ciguard.knowledge import refinements
from ciguard.libraries import LIBRARIES
from ciguard.targets import parse_target, provision

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ciguard.domain.records import ApiRecord
    from ciguard.knowledge import KnownApis, Refinement

_SUGGESTIONS = 3


def knowledge_for(
    api: str, *, target: str | None, file: Path | None, on_step: Callable[[str], None]
) -> tuple[KnownApis, str]:
    """Return the knowledge of the library that has an API, and the API's name in it.

    Args:
        api: qualified name of the API.
        target: library and version to describe; None for the newest shipped version.
        file: file of constraints to read instead.
        on_step: called with a line of text for each step that takes time.

    Raises:
        ConfigurationError: if there is no such API, naming the closest ones, or no such library.
        CiguardError: if the target cannot be provisioned, or a file cannot be read.
    """
    if file is not None:
        known = _read_all(file)
    elif target is None:
        known = _newest(api)
    else:
        known = extract(target, on_step=on_step).known
    name = known.find(api)
    if not name:
        origin = f"{known.provenance.library} {visible(known.provenance.version)}"
        raise ConfigurationError(_no_such_api(api, known, origin))
    return known, name


def learned_constraints(
    record: ApiRecord, target: str, *, on_step: Callable[[str], None]
) -> tuple[Refinement, ...]:
    """Return the constraints of an API that campaigns on a target have learned from outcomes.

    Raises:
        CiguardError: if the target cannot be provisioned.
    """
    environment = provision(parse_target(target), on_step=on_step)
    newest = ExperienceStore(environment).choose(lambda _: False)
    experience = newest.learned.get(record.api)
    return () if experience is None else refinements(record, experience)


def shipped_knowledge(module: str) -> KnownApis | None:
    """Return the shipped knowledge of the newest version of a module's library, if any."""
    for library in LIBRARIES.items().values():
        files = shipped_files(library.name) if library.module == module else []
        if files:
            return _read_all(files[0])
    return None


def _read_all(path: Path) -> KnownApis:
    known = read_file(path)
    if known is None:  # impossible without `only_if`
        raise AssertionError(path)
    return known


def _newest(api: str) -> KnownApis:
    known = shipped_knowledge(api.partition(".")[0])
    if known is not None:
        return known
    shipped = sorted(name for name in LIBRARIES.items() if shipped_files(name))
    msg = (
        f"api {visible(api)!r}: ciguard ships constraints of {', '.join(shipped)} only. Write the "
        "full name, as in 'tensorflow.nn.relu'. For another library or version, name a target, "
        "e.g. --target torch==2.12.0."
    )
    raise ConfigurationError(msg)


def _no_such_api(api: str, known: KnownApis, origin: str) -> str:
    last = api.rpartition(".")[2].lower()
    names = [name for record in known.records.values() for name in (record.api, *record.aliases)]
    similar = [name for name in names if name.rpartition(".")[2].lower() == last]
    close = difflib.get_close_matches(api, names, n=_SUGGESTIONS)
    suggestions = list(dict.fromkeys([*sorted(similar, key=len), *close]))[:_SUGGESTIONS]
    hint = f" Did you mean {' or '.join(map(repr, suggestions))}?" if suggestions else ""
    return f"api {visible(api)!r}: {origin} has no such API.{hint}"
