"""Version requirements of packages, parsed from the texts of requirement files."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from packaging.markers import UndefinedComparison, UndefinedEnvironmentName
from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

_MAX_LENGTH = 2_000
"""Maximum length of a requirement, in characters; longer texts are ignored."""
_CARET_REQUIREMENT = re.compile(r"\^\s*(\d+)(?:\.(\d+))?(?:\.(\d+))?")
_EXACT_OPERATORS = frozenset({"==", "==="})


@dataclass(frozen=True, slots=True, kw_only=True)
class PackagePin:
    """Version requirement of one package, in a requirement file."""

    package: str
    """Normalised name of the package."""
    specifier: SpecifierSet
    """Accepted versions."""
    line: int
    """Number of the requirement's line, counted from 1."""
    gpu_extras: tuple[str, ...] = ()
    """Extras that install CUDA, e.g. `and-cuda`; other extras are left out."""

    @property
    def package_with_extras(self) -> str:
        """Package with its extras, as installed on a machine with a GPU."""
        extras = ",".join(self.gpu_extras)
        return f"{self.package}[{extras}]" if extras else self.package

    @property
    def version(self) -> str | None:
        """Required version; None if the requirement accepts a range of versions."""
        for item in self.specifier:
            if item.operator in _EXACT_OPERATORS and not item.version.endswith(".*"):
                return item.version
        return None

    @property
    def lowest(self) -> str | None:
        """Lower bound of the accepted versions; None if there is none."""
        bounds = [
            Version(item.version.removesuffix(".*"))
            for item in self.specifier
            if item.operator in {">=", "~=", "=="}
        ]
        return str(max(bounds)) if bounds else None

    def __str__(self) -> str:
        """Return the required version, or the range as written."""
        return self.version or str(self.specifier) or "any version"


def requirement_pin(text: str, line: int) -> PackagePin | None:
    """Parse a requirement such as `torch[opt]>=2,<3; python_version > '3.9'`.

    Returns:
        The pin; None if the text is not a requirement, does not apply to this machine, or names
        an address instead of a version.
    """
    if len(text) > _MAX_LENGTH:
        return None
    try:
        requirement = Requirement(text)
        is_inapplicable = requirement.marker is not None and not requirement.marker.evaluate()
    except (InvalidRequirement, UndefinedEnvironmentName, UndefinedComparison):
        return None
    if requirement.url or is_inapplicable:
        return None
    pin = _pin(requirement.name, requirement.specifier, line)
    extras = tuple(sorted(name for name in requirement.extras if "cuda" in name.lower()))
    return replace(pin, gpu_extras=extras) if pin and extras else pin


def locked_pin(name: str, version: object, line: int) -> PackagePin | None:
    """Return the pin of a locked package; None if the version is invalid."""
    try:
        return _pin(name, SpecifierSet(f"=={Version(str(version)[:_MAX_LENGTH])}"), line)
    except InvalidVersion:
        return None


def range_pin(name: str, version_text: object, line: int) -> PackagePin | None:
    """Return the pin of a version in the syntax of Poetry, Pipenv or conda; None if invalid.

    Examples are `^2.12`, `*` and `=2.1`.
    """
    text = str(version_text)[:_MAX_LENGTH].strip()
    caret = _CARET_REQUIREMENT.fullmatch(text)
    if caret:
        text = f">={text[1:].strip()},<{_caret_limit(caret)}"
    elif text.startswith("~") and not text.startswith("~="):
        text = f"~={text[1:].strip()}" if "." in text else f"=={text[1:].strip()}.*"
    elif re.fullmatch(r"[\d.]+\*?", text):
        text = f"=={text}"
    elif re.fullmatch(r"=[\d.]+(=\w+)?", text):  # conda: any build of the version
        text = f"=={text[1:].partition('=')[0]}"
    try:
        return _pin(name, SpecifierSet("" if text in {"*", "latest"} else text), line)
    except InvalidSpecifier:
        return None


class Lines:
    """Lines of a file, for finding packages whose parser reports no line numbers."""

    def __init__(self, text: str) -> None:
        self._lines = text.splitlines()
        self._last_lines: dict[str, int] = {}

    def line_of(self, name: str, *, after: str = r"(?<![\w.-])") -> int:
        """Return the number of the next line that names a package, after the last line found.

        Args:
            name: the name of the package.
            after: a regular expression for the text before the name.
        """
        pattern = re.compile(rf"{after}{_name_pattern(name)}(?![\w-])", re.IGNORECASE)
        start = self._last_lines.get(name, 0)
        for number, line in enumerate(self._lines[start:], start=start + 1):
            if pattern.search(line):
                self._last_lines[name] = number
                return number
        return start or 1


def more_specific_pin(current: PackagePin | None, other: PackagePin) -> PackagePin:
    """Return the more specific pin: an exact version before a range, then the newer version."""
    return current if current is not None and _rank(current) >= _rank(other) else other


def _rank(pin: PackagePin) -> tuple[bool, Version]:
    return pin.version is not None, Version(pin.version or pin.lowest or "0")


def _pin(name: str, specifier: SpecifierSet, line: int) -> PackagePin | None:
    try:
        pin = PackagePin(package=canonicalize_name(name), specifier=specifier, line=max(1, line))
        _rank(pin)
    except InvalidVersion:  # the operator `===` accepts any text
        return None
    return pin


def _caret_limit(caret: re.Match[str]) -> str:
    """Return the lowest version that a caret excludes: its first part other than 0 is increased."""
    parts = [int(part) for part in caret.groups() if part is not None]
    index = next((index for index, part in enumerate(parts) if part), len(parts) - 1)
    return ".".join(map(str, [*parts[:index], parts[index] + 1]))


def _name_pattern(name: str) -> str:
    return r"[-_.]+".join(map(re.escape, canonicalize_name(name).split("-")))
