"""Rows for compiled modes, if the repository compiles, or changes a compiler."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.libraries import LIBRARIES
from ciguard.planning.rows import TargetGroup, library_name
from ciguard.targets import EAGER, parse_target

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ciguard.libraries import Library


def modes_in_use(names: Iterable[str]) -> dict[str, dict[str, str]]:
    """Return by library the modes that sources use, each with a name that selects it."""
    used = set(names)
    modes = {
        library.name: {
            mode: name
            for mode, description in library.modes.items()
            for name in description.selected_by
            if name in used
        }
        for library in LIBRARIES.items().values()
    }
    return {library: found for library, found in modes.items() if found}


def changed_modes(library: Library, paths: Iterable[str]) -> dict[str, str]:
    """Return the modes whose compiler a change to a library touches, each with a changed file."""
    all_paths = list(paths)
    return {
        mode: next(path for path in all_paths if path.startswith(description.sources))
        for mode, description in library.modes.items()
        if any(path.startswith(description.sources) for path in all_paths)
    }


def compiled_groups(
    groups: Iterable[TargetGroup], modes: dict[str, dict[str, str]]
) -> Iterator[tuple[TargetGroup, str]]:
    """Yield groups in compiled modes, each with the reason as a sentence.

    Two versions are compared in the mode. Otherwise eager execution is the reference.

    Args:
        groups: the groups of targets in eager execution; others are left out.
        modes: by library, the modes and what uses each of them.
    """
    for group in groups:
        texts = (*group.targets, *group.base)
        if not all(parse_target(text).mode == EAGER for text in texts):
            continue
        for mode, cause in modes.get(library_name(group.targets[0]), {}).items():
            compiled = tuple(f"{text} {mode}" for text in group.targets)
            base = tuple(f"{text} {mode}" for text in group.base)
            targets = compiled if base else (*group.targets, *compiled)
            sentence = f"{', '.join(compiled)} is planned, since {cause}."
            yield TargetGroup(targets=targets, base=base), sentence
