"""The targets that the requirements of a checkout name, for commands without a plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.errors import PlanError
from ciguard.planning.api_names import ApiNames
from ciguard.planning.checkout import Checkout, readable_files
from ciguard.planning.upgrades import required_backends, required_pins_of, required_targets
from ciguard.planning.uses import MAX_SOURCES, find_uses, own_sources, own_uses

if TYPE_CHECKING:
    from pathlib import Path


def required_targets_in(folder: Path) -> tuple[str, ...]:
    """Return the targets that a plan derives from the requirements of a checkout.

    The result is empty if the folder is not in a git checkout, or requires no known library.
    """
    try:
        checkout = Checkout(folder)
        paths = checkout.files()
    except PlanError:
        return ()
    problems: list[str] = []
    required_pins = required_pins_of(checkout, paths, problems)
    used: dict[str, str] = {}
    if required_backends(required_pins):  # only then do the sources matter
        sources = sorted(own_sources(paths))[:MAX_SOURCES]
        usage = find_uses(readable_files(checkout, sources, problems), (), ApiNames())
        used = own_uses(usage.apis)
    return tuple(required_targets(required_pins, used))
