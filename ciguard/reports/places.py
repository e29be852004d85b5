"""Where in the user's repository a bucket is to be seen: a line that exists, always."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ciguard.domain.function_calls import seated
from ciguard.domain.outcomes import Errored
from ciguard.domain.plan import Place

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from ciguard.domain.events import RunFinished
    from ciguard.domain.findings import Bucket, Finding
    from ciguard.domain.plan import Plan

NOWHERE = Place(path="ciguard.toml", line=1)
"""Where nothing else is known: the file that would configure ciguard, whether it exists or not."""
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
    """Answers where buckets are to be seen."""

    plan: Plan | None = None
    named: Mapping[str, Place] = field(default_factory=dict)
    """By library: the line of a configuration or requirement that names it; "" for any other."""
    folder: str = ""
    """Where the run was started, relative to the repository; ends with a slash unless empty."""

    def of(self, bucket: Bucket) -> tuple[Place, ...]:
        """Return the places of a bucket, the best first; there is at least one.

        Where a function of the user's fails; where the sources use the API; else the requirement
        that changed; else the line that names the library as a target or requirement.
        """
        finding = bucket.finding
        uses = self.plan.uses.get(finding.api, ()) if self.plan else ()
        candidates = (*self._failures(finding), *uses, *self._changes(bucket))
        found = [place for place in dict.fromkeys(candidates) if _fit(place)]
        return tuple(found) or (self.named.get(finding.library) or self.named.get("", NOWHERE),)

    def _failures(self, finding: Finding) -> Iterator[Place]:
        """Yield where a program of the user's fails, or where its function is defined."""
        file, line = finding.case.place
        if not file:
            return
        for name in finding.targets[::-1]:
            outcome = finding.outcomes.get(name)
            said = seated(outcome.message) if isinstance(outcome, Errored) else None
            if said is not None and said.file:
                yield Place(path=f"{self.folder}{said.file}", line=said.line)
        yield Place(path=f"{self.folder}{file}", line=line)

    def _changes(self, bucket: Bucket) -> Iterator[Place]:
        names = {*map(_canonical, (bucket.finding.library, *bucket.finding.targets))} - {""}
        for change in self.plan.changes if self.plan else ():
            if _canonical(change.package) in names:
                yield change.place


def places_of(event: RunFinished, plan: Plan | None, folder: Path) -> Places:
    """Return what answers where the buckets of a run are to be seen.

    Args:
        event: the run's end.
        plan: its plan, if there was one.
        folder: in the user's repository.
    """
    targets: dict[str, set[str]] = {}
    for target in event.targets:
        targets.setdefault(target.library, set()).add(target.name)
    below = folder.absolute().relative_to(_root(folder)).as_posix()
    return Places(
        plan=plan,
        named=places_naming(targets, folder),
        folder="" if below == "." else f"{below}/",
    )


def places_naming(libraries: Mapping[str, Iterable[str]], folder: Path) -> dict[str, Place]:
    """Return the line that names each library, by library, and under "" one for all others.

    Args:
        libraries: names of targets by library.
        folder: where the command runs. Paths are relative to the root of its repository.
    """
    root = _root(folder)
    lines = list(_lines(folder, root, _CANDIDATES))
    named = {}
    for library, targets in libraries.items():
        names = {_canonical(library), *map(_canonical, targets)} - {""}
        word = re.compile(
            rf"(?<![\w.-])(?:{'|'.join(map(re.escape, sorted(names)))})(?![\w-])", re.IGNORECASE
        )
        found = next((place for place, text in lines if word.search(text.replace("_", "-"))), None)
        if found is not None:
            named[library] = found
    first = next((place for place, _ in _lines(folder, root, _ANY_FILE)), NOWHERE)
    return {**named, "": first}


def _lines(folder: Path, root: Path, patterns: Iterable[str]) -> Iterator[tuple[Place, str]]:
    folders = dict.fromkeys((folder.absolute(), root))
    files = [path for one in folders for glob in patterns for path in sorted(one.glob(glob))]
    for path in files[:_MAX_FILES]:
        try:
            with path.open(encoding="utf-8", errors="replace") as stream:
                text = stream.read(_MAX_CHARACTERS)
        except OSError:
            continue  # A folder of that name, or not ours to read: another file will do.
        for number, line in enumerate(text.splitlines(), start=1):
            if not line.lstrip().startswith("#"):
                yield Place(path=path.relative_to(root).as_posix(), line=number), line


def _root(folder: Path) -> Path:
    here = folder.absolute()
    return next((one for one in (here, *here.parents) if (one / ".git").exists()), here)


def _canonical(text: str) -> str:
    """Return the name of the distribution that a requirement or target begins with."""
    found = _NAME.match(text.partition("==")[0])
    return re.sub(r"[-_.]+", "-", found[0]).lower() if found else ""


def _fit(place: Place) -> bool:
    """Return whether GitHub takes the path; a plan may be anybody's."""
    return bool(place.path) and place.path.isprintable() and len(place.path) <= _MAX_PATH
