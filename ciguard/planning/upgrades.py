"""The upgrade guard: which library changes its version, and the targets that show the change."""

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
from ciguard.planning.checkout import shown_path
from ciguard.planning.pins import PackagePin, best_of
from ciguard.planning.requirement_files import read_pins, reader_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ciguard.libraries import Library
    from ciguard.planning.checkout import ChangedFile, Checkout

Newest: TypeAlias = Callable[[str], str]
"""Answers a requirement with the newest version that satisfies it; empty if there is none."""
Needs: TypeAlias = "Mapping[str, PackagePin]"
"""What a project asks for of the known libraries, by the library's name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """A requirement file that differs: what it asks for before and after."""

    path: str
    base: tuple[PackagePin, ...]
    head: tuple[PackagePin, ...]
    is_whole: bool = True
    """False where one side could not be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """What one file says of a library, before and after."""

    path: str
    library: str
    base: PackagePin | None
    head: PackagePin | None

    @property
    def is_exact(self) -> bool:
        """Whether both sides name one version."""
        return bool(self.base and self.base.version and self.head and self.head.version)

    def described(self) -> PackageChange:
        """Return it as plans hold it."""
        named = self.head or self.base
        return PackageChange(
            package=named.package if named else self.library,
            base=str(self.base) if self.base else None,
            head=str(self.head) if self.head else None,
            place=Place(path=shown_path(self.path), line=self.head.line if self.head else 1),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Upgrade:
    """A library at two versions, as targets."""

    library: str
    target: str
    base: str


def needs_of(
    checkout: Checkout, paths: Iterable[str], problems: list[str]
) -> dict[str, PackagePin]:
    """Return what the checkout asks for of the known libraries: exact versions before ranges."""
    pins: list[PackagePin] = []
    for path in paths:
        if reader_of(path):
            pins += _pins(path, partial(checkout.text, path), problems)
    return _by_library(pins)


def revisions_of(
    checkout: Checkout, base: str, changed: Iterable[ChangedFile], problems: list[str]
) -> list[Revision]:
    """Return what the requirement files that differ ask for, in base and checkout."""
    found = []
    for change in changed:
        path = change.path
        if not reader_of(path):
            continue
        known = len(problems)
        before = _pins(path, partial(checkout.text_at, base, path), problems)
        after = [] if change.is_gone else _pins(path, partial(checkout.text, path), problems)
        is_whole = len(problems) == known
        revision = Revision(path=path, base=tuple(before), head=tuple(after), is_whole=is_whole)
        found.append(revision)
    return found


def changes_of(revisions: Iterable[Revision]) -> list[FileChange]:
    """Return where the requirement of a known library differs."""
    found = []
    for revision in revisions:
        old, new = _by_library(revision.base), _by_library(revision.head)
        found += [
            FileChange(path=revision.path, library=name, base=old.get(name), head=new.get(name))
            for name in sorted(old.keys() | new.keys())
            if _written(old.get(name)) != _written(new.get(name))
        ]
    return found


def upgrades_of(
    changes: Iterable[FileChange], needs: Needs, newest: Newest
) -> tuple[list[Upgrade], list[str]]:
    """Return what the changes come to as pairs of targets, and sentences on what was assumed.

    Args:
        changes: where requirements differ.
        needs: what the checkout asks for.
        newest: asked where a range must be turned into a version.
    """
    found: dict[Upgrade, None] = {}
    sentences = []
    listed = list(changes)
    exact = {change.library for change in listed if change.is_exact}
    for change in listed:
        if change.library in exact and not change.is_exact:
            continue  # a lock file beside it says what the range comes to
        where = f"{change.described().package} in {visible(shown_path(change.path))}"
        if change.head is None or change.base is None:
            absent = "no longer" if change.head is None else "newly"
            sentences.append(f"{where} is {absent} required: there are no two versions to compare.")
            continue
        versions, assumed = _versions(change.base, change.head, newest)
        if assumed:
            sentences.append(f"{where}: {assumed}.")
        if versions:
            texts = [
                target_text(pin, f"=={version}", needs)
                for pin, version in zip((change.base, change.head), versions, strict=True)
            ]
            found[Upgrade(library=change.library, base=texts[0], target=texts[1])] = None
    return list(found), sentences


def target_text(pin: PackagePin, specifier: str, needs: Needs) -> str:
    """Return the target of a package, with the backend that the project asks for."""
    library = library_of(pin.package)
    text = f"{pin.installed}{specifier}"
    if library is None or not library.backends:
        return text
    backend = next((needs[name] for name in library.backends if name in needs), None)
    beside = f"{backend.installed}{backend.specifier}" if backend else library.backends[-1]
    return f"{text} + {beside}"


def required_targets(needs: Needs) -> list[str]:
    """Return a target for each library that a project asks for.

    What only computes for another one of them is no target of its own.
    """
    libraries = [LIBRARIES.get(name) for name in needs]
    backends = {
        next((name for name in library.backends if name in needs), "") for library in libraries
    }
    return [
        target_text(pin, str(pin.specifier), needs)
        for name, pin in needs.items()
        if name not in backends
    ]


def library_of(package: str) -> Library | None:
    """Return the known library that a package provides, if any; clients of services are none."""
    known = (item for item in LIBRARIES.items().values() if item.has_api)
    return next((item for item in known if item.provides(package)), None)


def _versions(
    base: PackagePin, head: PackagePin, newest: Newest
) -> tuple[tuple[str, str] | None, str]:
    """Return two versions, if the pins come to two, and what was assumed."""
    if base.version and head.version:
        return (base.version, head.version), ""
    try:
        best = [pin.version or newest(f"{pin.package}{pin.specifier}") for pin in (base, head)]
        why = "no release satisfies one of them"
        if all(best):
            why = f"both are {best[0]} when installed today"
    except ProvisioningError as error:
        best, why = ["", ""], f"the index cannot be asked ({visible(str(error))})"
    lowest = [pin.version or pin.lowest or "" for pin in (base, head)]
    for pair, what in ((best, "the newest releases that satisfy them"), (lowest, "lower bounds")):
        if all(pair) and Version(pair[0]) != Version(pair[1]):
            reason = f", since {why}" if pair is lowest else ""
            text = f"{base} is taken for {pair[0]} and {head} for {pair[1]}, {what}{reason}"
            return (pair[0], pair[1]), text
    return None, f"{base} and {head} come to no two versions to compare: {why}"


def _by_library(pins: Iterable[PackagePin]) -> dict[str, PackagePin]:
    found: dict[str, PackagePin] = {}
    for pin in pins:
        library = library_of(pin.package)
        if library:
            found[library.name] = best_of(found.get(library.name), pin)
    return found


def _written(pin: PackagePin | None) -> str:
    return f"{pin.package} {pin}" if pin else ""


def _pins(path: str, read: Callable[[], bytes], problems: list[str]) -> list[PackagePin]:
    try:
        return read_pins(path, read())
    except (OSError, ValueError) as error:
        problems.append(f"{visible(shown_path(path))} was not read: {visible(str(error))}")
        return []
