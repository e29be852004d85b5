"""The frontier: how far earlier runs explored the same cases.

A time box ends at another case on every run. Without a memory of that, the same command would meet
a few old bugs that the run before did not get to, and call them new. So a run that does the same as
the one that made the baseline stops where that one stopped; a longer budget goes further.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from ciguard.baseline import Sighting
from ciguard.errors import BaselineError
from ciguard.files import replace_file

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

FRONTIER = "frontier.json"
FRONTIER_SCHEMA = 1


def stream_key(*parts: object) -> str:
    """Return the name of a stream by all that decides its cases."""
    text = json.dumps([str(part) for part in parts])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class Frontier:
    """Reads and writes `frontier.json` in the baseline's folder."""

    def __init__(self, folder: Path, *, is_first: bool = False) -> None:
        """Read what is stored.

        Args:
            folder: of the baseline.
            is_first: there is no baseline: what a removed one had explored counts for nothing.

        Raises:
            BaselineError: if it cannot be read, or a newer ciguard wrote it.
        """
        self._path = folder / FRONTIER
        self._explored: dict[str, tuple[int, float]] = {}
        self._ran: dict[str, tuple[str, str]] = {}
        if self._path.exists() and not is_first:
            self._read()

    def _read(self) -> None:
        try:
            stored = json.loads(self._path.read_text("utf-8"))
            schema = stored["schema"]
            if schema == FRONTIER_SCHEMA:
                self._explored = {
                    str(key): _explored(batches, explored_in_s)
                    for key, (batches, explored_in_s) in stored["explored"].items()
                }
                self._ran = {
                    str(target): (Sighting(time=time).time, str(version))
                    for target, (time, version) in stored.get("ran", {}).items()
                }
                return
        except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as e:
            msg = f"{self._path}: not readable ({e!r:.200}). Restore it from history or remove it."
            raise BaselineError(msg) from e
        msg = (
            f"{self._path}: written by a newer ciguard (schema {schema}, this one reads "
            f"{FRONTIER_SCHEMA}). Upgrade ciguard; the file is left as it is."
        )
        raise BaselineError(msg)

    def last(self, key: str, budget_s: float) -> int:
        """Return the batch to stop before; 0 when this run may go as far as it gets."""
        batches, explored_in_s = self._explored.get(key, (0, 0.0))
        return batches if budget_s <= explored_in_s else 0

    def knows(self, key: str) -> bool:
        """Return whether an earlier run explored these cases."""
        return key in self._explored

    def extend(self, key: str, batches: int, budget_s: float) -> None:
        """Note how far a run got; less than an earlier run changes nothing."""
        before, explored_in_s = self._explored.get(key, (0, 0.0))
        if batches >= before:
            self._explored[key] = (batches, max(budget_s, explored_in_s))

    @property
    def ran(self) -> Mapping[str, tuple[str, str]]:
        """When a target was last run to write the baseline, and in which version, by name."""
        return self._ran

    def note(self, sighting: Sighting) -> None:
        """Note which targets a run had, and when."""
        for target, version in sighting.versions:
            self._ran[target] = max(self._ran.get(target, ("", "")), (sighting.time, version))

    def save(self) -> None:
        """Write the file whole.

        Raises:
            BaselineError: if it cannot be written.
        """
        stored = {
            "schema": FRONTIER_SCHEMA,
            "explored": dict(sorted(self._explored.items())),
            "ran": dict(sorted(self._ran.items())),
        }
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            replace_file(self._path, json.dumps(stored, indent=1) + "\n")
        except OSError as error:
            msg = f"{self._path}: cannot be written: {error.strerror}"
            raise BaselineError(msg) from error


def _explored(batches: object, explored_in_s: object) -> tuple[int, float]:
    if not isinstance(batches, int) or not isinstance(explored_in_s, int | float) or batches < 0:
        msg = f"{[batches, explored_in_s]!r:.80} is not [batches, seconds]"
        raise ValueError(msg)
    return batches, float(explored_in_s)
