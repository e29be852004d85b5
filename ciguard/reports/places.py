"""Locations of buckets in the user's repository; each is a file and a line."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ciguard.domain.function_calls import locate_failure
from ciguard.domain.outcomes import Errored
from ciguard.domain.plan import Place

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from ciguard.domain.events import RunFinished
    from ciguard.domain.findings import Bucket, Finding
    from ciguard.domain.plan import Plan

NOWHERE = Place(path="ciguard.toml", line=1)
"""Location of a bucket without another one: ciguard's configuration file, even if it is missing."""
_CANDIDATES = (
    "ciguard.toml",
    "pyproject.toml",
    "requirements*.txt",
    "requirements/*.txt",
    "setup.cfg",
    "setup.py",
    "environment*.y*ml",
)
_ANY_FILE = (*_CANDIDATES, "README*")
_MAX_FILES = 50
_MAX_CHARACTERS = 500_000
_NAME = re.compile(r"[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?")
_MAX_PATH = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Finds the locations of buckets in the user's repository."""

    plan: Plan | None = None
    library_places: Mapping[str, Place] = field(default_factory=dict)
    """Library → line of a configuration or requirement that names it; "" → line for the others."""
    folder: str = ""
    """Folder of the run relative to the repository's root, with a final slash; empty for root."""

    def locate(self, bucket: Bucket) -> tuple[Place, ...]:
        """Return the places of a bucket, at least one, the best first.

        They are the line where the user's function fails, the lines that use the API, and the
        requirements that changed, in this order. A bucket without such places has the line that
        names its library.
        """
        finding = bucket.finding
        uses = self.plan.uses.get(finding.api, ()) if self.plan else ()
        candidates = (*self._failure_places(finding), *uses, *self._changed_requirements(bucket))
        valid = [place for place in dict.fromkeys(candidates) if _is_valid(place)]
        return tuple(valid) or (
            self.library_places.get(finding.library) or self.library_places.get("", NOWHERE),
        )

    def _failure_places(self, finding: Finding) -> Iterator[Place]:
        """Yield the lines where the user's function fails, then the line that defines it."""
        file, line = finding.case.place
        if not file:
            return
        for name in finding.targets[::-1]:
            outcome = finding.outcomes.get(name)
            location = locate_failure(outcome.message) if isinstance(outcome, Errored) else None
            if location is not None and location.file:
                yield Place(path=f"{self.folder}{location.file}", line=location.line)
        yield Place(path=f"{self.folder}{file}", line=line)

    def _changed_requirements(self, bucket: Bucket) -> Iterator[Place]:
        """Yield the changed requirements of a bucket's library or targets."""
        names = {*map(_canonical, (bucket.finding.library, *bucket.finding.targets))} - {""}
        for change in self.plan.changes if self.plan else ():
            if _canonical(change.package) in names:
                yield change.place


def places_of(event: RunFinished, plan: Plan | None, folder: Path) -> Places:
    """Return an object that locates the buckets of a run.

    Args:
        event: the last event of the run.
        plan: the plan of the run; None if it has none.
        folder: the folder in the user's repository where the command runs.
    """
    targets: dict[str, set[str]] = {}
    for target in event.targets:
        targets.setdefault(target.library, set()).add(target.name)
    below = folder.absolute().relative_to(_root(folder)).as_posix()
    return Places(
        plan=plan,
        library_places=find_library_places(targets, folder),
        folder="" if below == "." else f"{below}/",
    )


def find_library_places(libraries: Mapping[str, Iterable[str]], folder: Path) -> dict[str, Place]:
    """Return the line that names each library; under "" the line for libraries that none names.

    Args:
        libraries: the names of the targets of each library.
        folder: the folder where the command runs; returned paths start at its repository's root.
    """
    root = _root(folder)
    lines = list(_lines(folder, root, _CANDIDATES))
    library_places = {}
    for library, targets in libraries.items():
        names = {_canonical(library), *map(_canonical, targets)} - {""}
        word = re.compile(
            rf"(?<![\w.-])(?:{'|'.join(map(re.escape, sorted(names)))})(?![\w-])", re.IGNORECASE
        )
        match = next((place for place, text in lines if word.search(text.replace("_", "-"))), None)
        if match is not None:
            library_places[library] = match
    first = next((place for place, _ in _lines(folder, root, _ANY_FILE)), NOWHERE)
    return {**library_places, "": first}


def _lines(folder: Path, root: Path, patterns: Iterable[str]) -> Iterator[tuple[Place, str]]:
    """Yield place and text of each line, except comments, in the files of some patterns."""
    folders = dict.fromkeys((folder.absolute(), root))
    files = [path for parent in folders for glob in patterns for path in sorted(parent.glob(glob))]
    for path in files[:_MAX_FILES]:
        try:
            with path.open(encoding="utf-8", errors="replace") as stream:
                text = stream.read(_MAX_CHARACTERS)
        except OSError:
            continue  # A folder or an unreadable file; another file may name the library.
        for number, line in enumerate(text.splitlines(), start=1):
            if not line.lstrip().startswith("#"):
                yield Place(path=path.relative_to(root).as_posix(), line=number), line


def _root(folder: Path) -> Path:
    """Return the root of the repository that contains a folder; the folder itself without one."""
    start = folder.absolute()
    return next((path for path in (start, *start.parents) if (path / ".git").exists()), start)


def _canonical(text: str) -> str:
    """Return the normalised distribution name at the start of a requirement or target."""
    match = _NAME.match(text.partition("==")[0])
    return re.sub(r"[-_.]+", "-", match[0]).lower() if match else ""


def _is_valid(place: Place) -> bool:
    """Return whether GitHub accepts the place's path, which comes from an untrusted plan."""
    return bool(place.path) and place.path.isprintable() and len(place.path) <= _MAX_PATH
