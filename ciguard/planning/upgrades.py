"""Upgrades: libraries whose required version changes, and the targets to compare."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from packaging.version import Version

from ciguard.domain.plan import PackageChange, Place
from ciguard.domain.text import visible
from ciguard.errors import ProvisioningError
from ciguard.libraries import LIBRARIES
from ciguard.planning.checkout import display_path
from ciguard.planning.pins import PackagePin, more_specific_pin
from ciguard.planning.requirement_files import read_pins, reader_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from ciguard.libraries import Library
    from ciguard.planning.checkout import ChangedFile, Checkout

Newest: TypeAlias = Callable[[str], str]
"""Function that returns the newest version that satisfies a requirement; empty if none does."""
RequiredPins: TypeAlias = "Mapping[str, PackagePin]"
"""Pins of the known libraries that a project requires, by the library's name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """A changed requirement file."""

    path: str
    """Path of the file."""
    base: tuple[PackagePin, ...]
    """Pins before the change."""
    head: tuple[PackagePin, ...]
    """Pins after the change."""
    is_whole: bool = True
    """False if the file could not be read before or after the change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """Change of a library's pin in one file."""

    path: str
    """Path of the file."""
    library: str
    """Name of the library."""
    base: PackagePin | None
    """Pin before the change; None if there is none."""
    head: PackagePin | None
    """Pin after the change; None if there is none."""

    @property
    def is_exact(self) -> bool:
        """True if both pins have an exact version."""
        return bool(self.base and self.base.version and self.head and self.head.version)

    def to_package_change(self) -> PackageChange:
        """Return the change in the form that plans store."""
        pin = self.head or self.base
        return PackageChange(
            package=pin.package if pin else self.library,
            base=str(self.base) if self.base else None,
            head=str(self.head) if self.head else None,
            place=Place(path=display_path(self.path), line=self.head.line if self.head else 1),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Upgrade:
    """Two versions of a library to compare, as targets."""

    library: str
    """Name of the library."""
    target: str
    """Target with the version after the change."""
    base: str
    """Target with the version before the change."""


def required_pins_of(
    checkout: Checkout, paths: Iterable[str], problems: list[str]
) -> dict[str, PackagePin]:
    """Return the pins of known libraries in all requirement files, by the library's name.

    Exact versions take precedence. A sentence for each unreadable file is appended to `problems`.
    """
    pins: list[PackagePin] = []
    for path in paths:
        if reader_of(path):
            pins += _readable_pins(path, partial(checkout.content, path), problems)
    return _pins_by_library(pins)


def revisions_of(
    checkout: Checkout, base: str, changed: Iterable[ChangedFile], problems: list[str]
) -> list[Revision]:
    """Return the changed requirement files with their pins at the base and in the checkout."""
    revisions = []
    for change in changed:
        path = change.path
        if not reader_of(path):
            continue
        problem_count = len(problems)
        before = _readable_pins(path, partial(checkout.content_at, base, path), problems)
        after = (
            []
            if change.is_gone
            else _readable_pins(path, partial(checkout.content, path), problems)
        )
        is_whole = len(problems) == problem_count
        revision = Revision(path=path, base=tuple(before), head=tuple(after), is_whole=is_whole)
        revisions.append(revision)
    return revisions


def changes_of(revisions: Iterable[Revision]) -> list[FileChange]:
    """Return the changed requirements of known libraries."""
    changes = []
    for revision in revisions:
        before, after = _pins_by_library(revision.base), _pins_by_library(revision.head)
        changes += [
            FileChange(
                path=revision.path, library=name, base=before.get(name), head=after.get(name)
            )
            for name in sorted(before.keys() | after.keys())
            if _pin_text(before.get(name)) != _pin_text(after.get(name))
        ]
    return changes


def upgrades_of(
    changes: Iterable[FileChange], required_pins: RequiredPins, newest: Newest
) -> tuple[list[Upgrade], list[str]]:
    """Return the pairs of targets to compare, and sentences on the assumptions made.

    Args:
        changes: the changed requirements.
        required_pins: the pins in the checkout, by the library's name.
        newest: a function that returns the newest version that satisfies a requirement.
    """
    upgrades: dict[Upgrade, None] = {}
    sentences = []
    all_changes = list(changes)
    exact_libraries = {change.library for change in all_changes if change.is_exact}
    for change in all_changes:
        if change.library in exact_libraries and not change.is_exact:
            continue  # another file, such as a lock file, has the exact version
        package = f"{change.to_package_change().package} in {visible(display_path(change.path))}"
        if change.head is None or change.base is None:
            adverb = "no longer" if change.head is None else "newly"
            sentences.append(
                f"{package} is {adverb} required, so there are no two versions to compare."
            )
            continue
        versions, assumption = _versions(change.base, change.head, newest)
        if assumption:
            sentences.append(f"{package}: {assumption}.")
        if versions:
            texts = [
                target_text(pin, f"=={version}", required_pins)
                for pin, version in zip((change.base, change.head), versions, strict=True)
            ]
            upgrades[Upgrade(library=change.library, base=texts[0], target=texts[1])] = None
    return list(upgrades), sentences


def target_text(pin: PackagePin, specifier: str, required_pins: RequiredPins) -> str:
    """Return the target of a package, with the required backend if the library needs one."""
    library = library_of(pin.package)
    text = f"{pin.package_with_extras}{specifier}"
    if library is None or not library.backends:
        return text
    backend = next(
        (required_pins[name] for name in library.backends if name in required_pins), None
    )
    backend_text = (
        f"{backend.package_with_extras}{backend.specifier}" if backend else library.backends[-1]
    )
    return f"{text} + {backend_text}"


def required_targets(required_pins: RequiredPins, used: Collection[str]) -> list[str]:
    """Return a target for each library that a project requires.

    The backend of another library is a target of its own only if the project uses it directly.

    Args:
        required_pins: the pins in the checkout, by the library's name.
        used: the libraries whose own APIs the sources use.
    """
    idle_backends = required_backends(required_pins) - {*used}
    return [
        target_text(pin, str(pin.specifier), required_pins)
        for name, pin in required_pins.items()
        if name not in idle_backends
    ]


def required_backends(required_pins: RequiredPins) -> set[str]:
    """Return the required libraries that are the backend of another required library."""
    libraries = [LIBRARIES.get(name) for name in required_pins]
    found = (
        next((name for name in library.backends if name in required_pins), "")
        for library in libraries
    )
    return {*filter(None, found)}


def library_of(package: str) -> Library | None:
    """Return the known library that a package provides; None for others and service clients."""
    known = (item for item in LIBRARIES.items().values() if item.has_api)
    return next((item for item in known if item.provides(package)), None)


def _versions(
    base: PackagePin, head: PackagePin, newest: Newest
) -> tuple[tuple[str, str] | None, str]:
    """Return the two versions to compare, or None if there are no two, and a clause on why."""
    if base.version and head.version:
        return (base.version, head.version), ""
    try:
        newest_versions = [
            pin.version or newest(f"{pin.package}{pin.specifier}") for pin in (base, head)
        ]
        cause = "no release satisfies one of these requirements"
        if all(newest_versions):
            cause = f"both requirements resolve to {newest_versions[0]} today"
    except ProvisioningError as error:
        newest_versions = ["", ""]
        cause = f"the package index is not available ({visible(str(error))})"
    lowest_versions = [pin.version or pin.lowest or "" for pin in (base, head)]
    for pair, basis in (
        (newest_versions, "the newest releases that satisfy the requirements"),
        (lowest_versions, "lower bounds"),
    ):
        if all(pair) and Version(pair[0]) != Version(pair[1]):
            reason = f", since {cause}" if pair is lowest_versions else ""
            text = f"{base} stands for {pair[0]} and {head} for {pair[1]}, {basis}{reason}"
            return (pair[0], pair[1]), text
    return None, f"{base} and {head} do not yield two different versions to compare: {cause}"


def _pins_by_library(pins: Iterable[PackagePin]) -> dict[str, PackagePin]:
    """Return the most specific pin of each known library, by the library's name."""
    pins_by_name: dict[str, PackagePin] = {}
    for pin in pins:
        library = library_of(pin.package)
        if library:
            pins_by_name[library.name] = more_specific_pin(pins_by_name.get(library.name), pin)
    return pins_by_name


def _pin_text(pin: PackagePin | None) -> str:
    return f"{pin.package} {pin}" if pin else ""


def _readable_pins(
    path: str, read_content: Callable[[], bytes], problems: list[str]
) -> list[PackagePin]:
    """Return the pins in a file; if it is unreadable, append a sentence to `problems`."""
    try:
        return read_pins(path, read_content())
    except (OSError, ValueError) as error:
        problems.append(f"{visible(display_path(path))} was not read: {visible(str(error))}")
        return []
