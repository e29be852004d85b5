"""Find what is known of an API by its name, without installing anything where that can be."""

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
    """Return what is known of the library that has an API, and the name it is listed under.

    Args:
        api: its qualified name.
        target: library and version, to be asked; None means the newest version that is shipped.
        file: of constraints, to look into instead.
        on_step: told what is happening, one line each, when something takes time.

    Raises:
        ConfigurationError: if there is no such API, with the closest names, or no such library.
        CiguardError: if the target cannot be provided, or a file cannot be read.
    """
    if file is not None:
        known = _whole(file)
    elif target is None:
        known = _newest(api)
    else:
        known = extract(target, on_step=on_step).known
    listed = known.find(api)
    if not listed:
        origin = f"{known.provenance.library} {visible(known.provenance.version)}"
        raise ConfigurationError(_no_such_api(api, known, origin))
    return known, listed


def learned_of(
    record: ApiRecord, target: str, *, on_step: Callable[[str], None]
) -> tuple[Refinement, ...]:
    """Return what campaigns on a target have learned of an API from its answers.

    Raises:
        CiguardError: if the target cannot be provided.
    """
    environment = provision(parse_target(target), on_step=on_step)
    newest = ExperienceStore(environment).choose(lambda _: False)
    experience = newest.learned.get(record.api)
    return () if experience is None else refinements(record, experience)


def shipped_knowledge(module: str) -> KnownApis | None:
    """Return what ciguard brings along on the newest version of the library of a module, if any."""
    for library in LIBRARIES.items().values():
        files = shipped_files(library.name) if library.module == module else []
        if files:
            return _whole(files[0])
    return None


def _whole(path: Path) -> KnownApis:
    known = read_file(path)
    if known is None:  # only `only_if` leaves a file unread, and none was given
        raise AssertionError(path)
    return known


def _newest(api: str) -> KnownApis:
    known = shipped_knowledge(api.partition(".")[0])
    if known is not None:
        return known
    brought = sorted(name for name in LIBRARIES.items() if shipped_files(name))
    msg = (
        f"api {visible(api)!r}: ciguard brings along what is known of {', '.join(brought)}, whose "
        "names are written out, as in 'tensorflow.nn.relu'. For another library or version name "
        "a target, e.g. --target torch==2.12.0."
    )
    raise ConfigurationError(msg)


def _no_such_api(api: str, known: KnownApis, origin: str) -> str:
    last = api.rpartition(".")[2].lower()
    every = [name for record in known.records.values() for name in (record.api, *record.aliases)]
    alike = [name for name in every if name.rpartition(".")[2].lower() == last]
    close = difflib.get_close_matches(api, every, n=_SUGGESTIONS)
    names = list(dict.fromkeys([*sorted(alike, key=len), *close]))[:_SUGGESTIONS]
    hint = f" Did you mean {' or '.join(map(repr, names))}?" if names else ""
    return f"api {visible(api)!r}: {origin} has none of this name.{hint}"
