"""The frontier: how far earlier runs explored the same cases.

A run with a time budget ends at a different case each time. So a repeated run could report old
defects as new that the previous run did not reach. To avoid this, a run with the same cases as an
earlier one stops where that one stopped, unless its budget is larger.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from ciguard.baseline import Sighting
from ciguard.campaign.covered_functions import CoveredFunctions
from ciguard.errors import BaselineError
from ciguard.files import replace_file

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ciguard.domain.parts import StreamProgress

FRONTIER = "frontier.json"
FRONTIER_SCHEMA = 2
_READABLE_SCHEMAS = (1, FRONTIER_SCHEMA)
"""Schema 1 had no visits."""
_CORRUPT = (
    OSError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    RecursionError,
    OverflowError,
)
"""Errors that reading a malformed file may raise."""


def stream_key(*parts: object) -> str:
    """Return the name of a stream, derived from all that decides its cases."""
    text = json.dumps([str(part) for part in parts])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class Frontier:
    """Reads and writes `frontier.json` in the baseline's folder."""

    def __init__(self, folder: Path, *, is_first: bool = False) -> None:
        """Read the stored frontier.

        Args:
            folder: folder of the baseline.
            is_first: whether there is no baseline, so that a stored frontier is ignored.

        Raises:
            BaselineError: if it cannot be read, or was written by a newer ciguard.
        """
        self._path = folder / FRONTIER
        self._explored: dict[str, tuple[int, float, str]] = {}
        self._last_runs: dict[str, tuple[str, str]] = {}
        self.functions = CoveredFunctions()
        """The user's functions that earlier runs have tested."""
        if self._path.exists() and not is_first:
            self._read()

    def _read(self) -> None:
        try:
            stored = json.loads(self._path.read_text("utf-8"))
            schema = stored["schema"]
            if schema in _READABLE_SCHEMAS:
                self._explored = {
                    str(key): _explored(*entry) for key, entry in stored["explored"].items()
                }
                self._last_runs = {
                    str(target): (Sighting(time=time).time, str(version))
                    for target, (time, version) in stored.get("ran", {}).items()
                }
                self.functions = CoveredFunctions(stored.get("functions"))
                return
        except _CORRUPT as error:
            msg = (
                f"{self._path}: cannot be read ({error!r:.200}). Restore it from history or remove "
                "it."
            )
            raise BaselineError(msg) from error
        msg = (
            f"{self._path}: written by a newer ciguard (schema {schema}, this one reads "
            f"{FRONTIER_SCHEMA}). Upgrade ciguard; the file was not changed."
        )
        raise BaselineError(msg)

    def last(self, key: str, budget_s: float) -> tuple[int, str]:
        """Return the number of batches and the packed visits to stop at.

        The number is 0 if this run has no such limit.
        """
        batches, explored_in_s, visits = self._explored.get(key, (0, 0.0, ""))
        return (batches, visits) if budget_s <= explored_in_s else (0, "")

    def knows(self, key: str) -> bool:
        """Return whether an earlier run explored this stream."""
        return key in self._explored

    def extend(self, key: str, progress: StreamProgress, budget_s: float) -> None:
        """Record the progress of a run, if it exceeds that of earlier runs."""
        previous, explored_in_s, _ = self._explored.get(key, (0, 0.0, ""))
        if progress.batches >= previous:
            explored_in_s = max(budget_s, explored_in_s)
            self._explored[key] = progress.batches, explored_in_s, progress.visits

    @property
    def last_runs(self) -> Mapping[str, tuple[str, str]]:
        """Time and version of each target's last run that wrote the baseline, by name."""
        return self._last_runs

    def note(self, sighting: Sighting) -> None:
        """Record the targets and the time of a run."""
        for target, version in sighting.versions:
            self._last_runs[target] = max(
                self._last_runs.get(target, ("", "")), (sighting.time, version)
            )

    def save(self) -> None:
        """Write the file atomically.

        Raises:
            BaselineError: if it cannot be written.
        """
        stored = {
            "schema": FRONTIER_SCHEMA,
            "explored": dict(sorted(self._explored.items())),
            "ran": dict(sorted(self._last_runs.items())),
            **({"functions": functions} if (functions := self.functions.to_json()) else {}),
        }
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            replace_file(self._path, json.dumps(stored, indent=1) + "\n")
        except OSError as error:
            msg = (
                f"{self._path}: cannot be written: {error.strerror}. "
                "Free some space or correct its permissions."
            )
            raise BaselineError(msg) from error


def _explored(
    batches: object, explored_in_s: object, visits: object = ""
) -> tuple[int, float, str]:
    if (
        not isinstance(batches, int)
        or not isinstance(explored_in_s, int | float)
        or not isinstance(visits, str)
        or batches < 0
    ):
        value = f"{[batches, explored_in_s, visits]!r:.80}"
        msg = f"{value} is not [batches, seconds, visits] with non-negative numbers"
        raise ValueError(msg)
    return batches, float(explored_in_s), visits
