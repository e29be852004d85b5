"""Files with annotated functions, and how to test them."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

from ciguard.domain.text import visible
from ciguard.planning.checkout import Checkout, readable_files
from ciguard.planning.uses import own_sources

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

_IMPORT = re.compile(
    rb"^[ \t]*(?:from[ \t]+ciguard\.annotations[ \t]+import|import[ \t]+ciguard\.annotations"
    rb"|from[ \t]+ciguard[ \t]+import[ \t(]+(?:\w+,[ \t]*)*annotations)\b",
    re.MULTILINE,
)
_SIDECAR = ".annotations.py"
_PLAIN_PATH = re.compile(r"\w[\w./-]*\.py", re.ASCII)
LEVEL = "function"
_MAX_NAMED = 4


def annotated_files(folder: Path) -> tuple[str, ...]:
    """Return the tracked programs with annotated functions, relative to the root of the checkout.

    Programs whose path has other characters than letters, digits and `._-/` are left out.

    Raises:
        PlanError: if the folder is not a git checkout.
    """
    checkout = Checkout(folder)
    paths = [path for path in own_sources(checkout.files()) if _PLAIN_PATH.fullmatch(path)]
    return tuple(sorted(set(_annotated(checkout, paths))))


def _annotated(checkout: Checkout, paths: list[str]) -> Iterator[str]:
    for path, content in readable_files(checkout, paths, []):
        program = path.removesuffix(_SIDECAR) + ".py" if path.endswith(_SIDECAR) else path
        if _IMPORT.search(content) and program in paths:
            yield program


def annotation_advice(files: Sequence[str], levels: Sequence[str]) -> list[str]:
    """Return how to test annotated functions; empty if the settings name their level.

    Args:
        files: the programs with annotated functions.
        levels: the levels in the settings.
    """
    if not files or LEVEL in levels:
        return []
    words = [word for path in files[:_MAX_NAMED] for word in ("--functions", path)]
    command = shlex.join(["ciguard", "run", "--level", LEVEL, *words])
    more = f" and {len(files) - _MAX_NAMED} more" if len(files) > _MAX_NAMED else ""
    named = visible(", ".join(files[:_MAX_NAMED]))
    advice = (
        f"Functions of {named}{more} are annotated. To test them: {visible(command)} --target "
        "TARGET (docs/levels/function.md)."
    )
    return [advice]
