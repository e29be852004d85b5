"""Which version of a package a file asks for, and how such a text is read."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from packaging.markers import UndefinedComparison, UndefinedEnvironmentName
from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

_MAX_LENGTH = 2_000
"""Characters of one requirement: what is longer is none."""
_CARET = re.compile(r"\^\s*(\d+)(?:\.(\d+))?(?:\.(\d+))?")
_EXACT = frozenset({"==", "==="})


@dataclass(frozen=True, slots=True, kw_only=True)
class PackagePin:
    """What a file asks for of one package."""

    package: str
    """Normalised name."""
    specifier: SpecifierSet
    line: int
    """From 1."""
    gpu_extras: tuple[str, ...] = ()
    """Extras that bring CUDA, e.g. `and-cuda`; others say nothing of the library itself."""

    @property
    def installed(self) -> str:
        """The package as it is installed on a machine with a GPU."""
        extras = ",".join(self.gpu_extras)
        return f"{self.package}[{extras}]" if extras else self.package

    @property
    def version(self) -> str | None:
        """The exact version, None for a range."""
        for item in self.specifier:
            if item.operator in _EXACT and not item.version.endswith(".*"):
                return item.version
        return None

    @property
    def lowest(self) -> str | None:
        """The lower bound of a range, None where there is none."""
        bounds = [
            Version(item.version.removesuffix(".*"))
            for item in self.specifier
            if item.operator in {">=", "~=", "=="}
        ]
        return str(max(bounds)) if bounds else None

    def __str__(self) -> str:
        """Return the version, or the range as people write it."""
        return self.version or str(self.specifier) or "any version"


def pin_of(text: str, line: int) -> PackagePin | None:
    """Read a requirement such as `torch[opt]>=2,<3; python_version > '3.9'`.

    None if it is none, if it is not for this machine, or if it names an address instead of a
    version.
    """
    if len(text) > _MAX_LENGTH:
        return None
    try:
        requirement = Requirement(text)
        is_for_others = requirement.marker is not None and not requirement.marker.evaluate()
    except (InvalidRequirement, UndefinedEnvironmentName, UndefinedComparison):
        return None
    if requirement.url or is_for_others:
        return None
    pin = _pin(requirement.name, requirement.specifier, line)
    extras = tuple(sorted(name for name in requirement.extras if "cuda" in name.lower()))
    return replace(pin, gpu_extras=extras) if pin and extras else pin


def pin_at(name: str, version: object, line: int) -> PackagePin | None:
    """Return the pin of a locked package; None if the version is none."""
    try:
        return _pin(name, SpecifierSet(f"=={Version(str(version)[:_MAX_LENGTH])}"), line)
    except InvalidVersion:
        return None


def pin_within(name: str, written: object, line: int) -> PackagePin | None:
    """Return the pin of a version as Poetry, Pipenv and conda write it: `^2.12`, `*`, `=2.1`."""
    text = str(written)[:_MAX_LENGTH].strip()
    caret = _CARET.fullmatch(text)
    if caret:
        text = f">={text[1:].strip()},<{_next(caret)}"
    elif text.startswith("~") and not text.startswith("~="):
        text = f"~={text[1:].strip()}" if "." in text else f"=={text[1:].strip()}.*"
    elif re.fullmatch(r"[\d.]+\*?", text):
        text = f"=={text}"
    elif re.fullmatch(r"=[\d.]+(=\w+)?", text):  # conda: any build of it
        text = f"=={text[1:].partition('=')[0]}"
    try:
        return _pin(name, SpecifierSet("" if text in {"*", "latest"} else text), line)
    except InvalidSpecifier:
        return None


class Lines:
    """Finds the line that names a package, in files that a parser reads without lines."""

    def __init__(self, text: str) -> None:
        self._lines = text.splitlines()
        self._seen: dict[str, int] = {}

    def of(self, name: str, *, after: str = r"(?<![\w.-])") -> int:
        """Return the first line that names a package; of a name met again the next one.

        Args:
            name: of the package.
            after: pattern of what stands before the name.
        """
        wanted = re.compile(rf"{after}{_spelled(name)}(?![\w-])", re.IGNORECASE)
        begin = self._seen.get(name, 0)
        for at, line in enumerate(self._lines[begin:], start=begin + 1):
            if wanted.search(line):
                self._seen[name] = at
                return at
        return begin or 1


def best_of(one: PackagePin | None, other: PackagePin) -> PackagePin:
    """Return the pin that says more: an exact version before a range, then the newer one."""
    return one if one is not None and _rank(one) >= _rank(other) else other


def _rank(pin: PackagePin) -> tuple[bool, Version]:
    return pin.version is not None, Version(pin.version or pin.lowest or "0")


def _pin(name: str, specifier: SpecifierSet, line: int) -> PackagePin | None:
    try:
        pin = PackagePin(package=canonicalize_name(name), specifier=specifier, line=max(1, line))
        _rank(pin)
    except InvalidVersion:  # `===` takes any text
        return None
    return pin


def _next(caret: re.Match[str]) -> str:
    """Return the first version that a caret excludes: the leftmost part that is not 0 goes up."""
    parts = [int(part) for part in caret.groups() if part is not None]
    at = next((at for at, part in enumerate(parts) if part), len(parts) - 1)
    return ".".join(map(str, [*parts[:at], parts[at] + 1]))


def _spelled(name: str) -> str:
    return r"[-_.]+".join(map(re.escape, canonicalize_name(name).split("-")))
