"""Syntax of targets: `jax==0.5.0 + numpy<2@cuda:1 jit python3.10 XLA_FLAGS=1`.

Packages come first, joined by ` + `. A device, a mode, an interpreter and variables follow in any
order.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import (
    InvalidName,
    InvalidWheelFilename,
    canonicalize_name,
    parse_wheel_filename,
)

from ciguard.errors import TargetSyntaxError, suggestion
from ciguard.libraries import LIBRARIES, library_of_distribution
from ciguard.targets.target import (
    CPU,
    EAGER,
    GUARDED,
    TF32,
    ActiveEnvironment,
    IndexPackage,
    Package,
    Target,
    Wheel,
    libraries_of,
)
from ciguard.targets.variables import refusal

if TYPE_CHECKING:
    from ciguard.libraries import Library

OLDEST_PYTHON = (3, 9)
"""Oldest version of Python that workers support."""
DEVICE_PATTERN = r"cpu|cuda(?::\d{1,3})?"
"""Regular expression of a device."""

_OPERATORS = "<>=!~,"
_PACKAGE_WITH_DEVICE = re.compile(r"(?P<package>.+)@(?P<device>[^@/\\]*)")
_MODE = re.compile(r"[a-z][a-z0-9_]*")
_PYTHON = re.compile(r"python(\d+(?:\.\d+)*)")
_VARIABLE = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(?!=)(.*)", re.DOTALL)
_EXTRAS_AFTER_VERSION = re.compile(
    r"(?P<name>[\w.-]+)(?P<version>[<>=!~][^\[\]]*)(?P<extras>\[[^\]]*\])"
)
_CURRENT = re.compile(r"current(?:\[(?P<library>[^\]]*)\])?")


def parse_target(text: str) -> Target:
    """Return the target that the text describes.

    Raises:
        TargetSyntaxError: if the text is invalid; the message quotes the wrong word and gives a
            remedy.
        UnknownLibraryError: if ciguard has an adapter for none of the packages.
    """
    parser = _Parser(text)
    target = parser.target()
    parser.check(target)
    return target


def read_target(text: str) -> Target:
    """Return the target that the text describes, without checking that an adapter can run it.

    A job that only evaluates results may lack the plugins of the jobs that ran the target.

    Raises:
        TargetSyntaxError: if the text is invalid.
    """
    return _Parser(text).target()


def parse_device(text: str) -> str | None:
    """Return a device in normal form, `cpu` or `cuda:NUMBER`; None if the text is not one."""
    if not re.fullmatch(DEVICE_PATTERN, text):
        return None
    kind, _, number = text.partition(":")
    return kind if kind == CPU else f"{kind}:{int(number or 0)}"


class _Parser:
    """Parser of one target, which quotes its text in error messages."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._backend_packages: list[IndexPackage] = []
        self._devices: list[str] = []
        self._modes: list[str] = []
        self._pythons: list[str] = []
        self._variables: dict[str, str] = {}

    def target(self) -> Target:
        """Return the target of the text."""
        package_words, options = self._separate(self._words())
        packages = self._packages(package_words)
        for option in options:
            self._read_option(option)
        if len(self._devices) > 1:
            self._fail(
                f"the text names two devices, {' and '.join(self._devices)}", "keep one of them"
            )
        if len(self._pythons) > 1:
            self._fail(
                f"the text names two interpreters, {' and '.join(self._pythons)}", "keep one"
            )
        if len(self._modes) > 1:
            self._fail(
                f"the text names two modes, {' and '.join(self._modes)}",
                "write one target for each mode",
            )
        return Target(
            packages=packages,
            device=self._devices[0] if self._devices else CPU,
            mode=self._modes[0] if self._modes else EAGER,
            variables=tuple(sorted(self._variables.items())),
            python=self._pythons[0] if self._pythons else "",
        )

    def _words(self) -> list[str]:
        try:
            words = shlex.split(self._text)
        except ValueError as error:
            self._fail(str(error).lower(), "add the closing quotation mark")
        if not words:
            self._fail("the text is empty", "write a package, e.g. torch==2.13.0, or current")
        return words

    def _separate(self, words: list[str]) -> tuple[list[str], list[str]]:
        """Return packages and options separately; `torch >= 2, < 3` is one package."""
        packages: list[str] = []
        options: list[str] = []
        expects_package = True
        for word in words:
            if word == "+":
                if expects_package or options:
                    self._fail("there is no package before a '+'", "write a + b @cuda")
                expects_package = True
            elif expects_package:
                packages.append(word)
                expects_package = False
            elif not options and _is_continued_by(packages[-1], word):
                packages[-1] += word
            else:
                options.append(word)
        if expects_package:
            self._fail("there is no package after a '+'", "name a package or remove the '+'")
        return packages, options

    def _packages(self, words: list[str]) -> tuple[Package, ...]:
        """Return the packages of the words, then the packages of backends that extras name."""
        packages: list[Package] = []
        for position, word in enumerate(words):
            with_device = _PACKAGE_WITH_DEVICE.fullmatch(word)
            if with_device is None:
                packages.append(self._read_package(word))
                continue
            if position < len(words) - 1:
                self._fail(
                    f"{word!r} has a device before the last package",
                    "write the device after all packages",
                )
            self._read_device(with_device["device"])
            packages.append(self._read_package(with_device["package"]))
        if len(packages) > 1 and any(
            isinstance(package, ActiveEnvironment) for package in packages
        ):
            self._fail(
                "'current' cannot be combined with packages",
                "keep only 'current' or only the packages",
            )
        self._refuse_repetition(packages)
        identities = {_identity(package) for package in packages}
        return (
            *packages,
            *(
                package
                for package in self._backend_packages
                if _identity(package) not in identities
            ),
        )

    def _refuse_repetition(self, packages: list[Package]) -> None:
        seen: dict[str, Package] = {}
        for package in packages:
            previous = seen.setdefault(_identity(package), package)
            if previous is not package:
                self._fail(f"{previous} and {package} are the same package", "keep one")

    def _read_package(self, word: str) -> Package:
        current = _CURRENT.fullmatch(word)
        if current:
            return self._read_current(current["library"])
        if word.endswith(".whl"):
            return self._read_wheel(word)
        return self._read_requirement(word)

    def _read_current(self, library: str | None) -> ActiveEnvironment:
        if library is not None and library not in LIBRARIES.items():
            hint = suggestion(library, LIBRARIES.items())
            self._fail(f"unknown library {library!r}", f"name a known library.{hint}")
        return ActiveEnvironment(library or "")

    def _read_wheel(self, word: str) -> Wheel:
        path = Path(word)
        try:
            parse_wheel_filename(path.name)
        except InvalidWheelFilename as error:
            remedy = "keep the file name from the build, such as NAME-VERSION-py3-none-any.whl"
            self._fail(str(error), remedy)
        return Wheel(path)

    def _read_requirement(self, word: str) -> IndexPackage:
        """Return the package of a requirement; extras that are backends become further packages."""
        misplaced = _EXTRAS_AFTER_VERSION.fullmatch(word)
        if misplaced:
            word = f"{misplaced['name']}{misplaced['extras']}{misplaced['version']}"
        try:
            requirement = Requirement(word)
            name = canonicalize_name(requirement.name, validate=True)
        except (InvalidName, InvalidRequirement):
            remedy = "write NAME==VERSION, e.g. torch==2.13.0, a path to a .whl file, or current"
            self._fail(f"{word!r} is not a package", remedy)
        if requirement.url or requirement.marker:
            remedy = "write NAME==VERSION, or download the wheel and give its path"
            self._fail(f"{word!r} contains a URL or an environment marker", remedy)
        library = library_of_distribution(name)
        backends = requirement.extras.intersection(library.backends if library else ())
        for backend in sorted(backends):
            self._backend_packages.append(IndexPackage(LIBRARIES.get(backend).distributions[0]))
        extra_names = ",".join(sorted(requirement.extras - backends))
        extras = f"[{extra_names}]" if extra_names else ""
        return IndexPackage(f"{name}{extras}{requirement.specifier}")

    def _read_option(self, word: str) -> None:
        """Store the device, mode, interpreter or variable that a word names."""
        python = _PYTHON.fullmatch(word)
        variable = _VARIABLE.fullmatch(word)
        if word.startswith("@"):
            self._read_device(word[1:])
        elif python:
            self._read_python(python[1])
        elif variable:
            self._read_variable(variable[1], variable[2])
        elif _MODE.fullmatch(word):
            self._modes.append(word)
        else:
            remedy = "join packages with ' + ', then write @cuda, a mode, python3.10 or NAME=VALUE"
            self._fail(f"{word!r} is not a device, mode, interpreter or variable", remedy)

    def _read_device(self, device: str) -> None:
        parsed = parse_device(device)
        if parsed is None:
            hint = suggestion(device, ("cpu", "cuda"))
            self._fail(f"unknown device {device!r}", f"write @cpu, @cuda or @cuda:1.{hint}")
        self._devices.append(parsed)

    def _read_python(self, version: str) -> None:
        parts = tuple(map(int, version.split(".")))
        if len(parts) not in {2, 3} or parts < OLDEST_PYTHON or parts[0] != OLDEST_PYTHON[0]:
            oldest = ".".join(map(str, OLDEST_PYTHON))
            reason = f"python{version} is not supported"
            self._fail(reason, f"write {oldest} or later, e.g. python3.10")
        self._pythons.append(".".join(map(str, parts)))

    def _read_variable(self, name: str, value: str) -> None:
        reason = refusal(name)
        if reason:
            self._fail(f"{name} cannot be set: {reason}", "remove the variable from the target")
        if name in self._variables:
            self._fail(f"{name} is set twice", "keep one of them")
        if "\0" in value:
            self._fail(f"the value of {name} has a NUL character", "remove the character")
        self._variables[name] = value

    def check(self, target: Target) -> None:
        """Raise an error if no adapter can run the target."""
        libraries = libraries_of(target)
        self._check_mode(target.mode, libraries)
        if target.mode == GUARDED and target.device != CPU:
            self._fail("the memory guard covers the memory of the CPU only", "write @cpu")
        if target.mode == TF32 and target.device == CPU:
            self._fail("only GPUs compute with TF32", "write @cuda")
        if target.is_current:
            if target.python:
                remedy = "activate an environment with that interpreter, or name a package"
                self._fail("'current' cannot be combined with another interpreter", remedy)
            return
        library, *backends = libraries
        names = {backend.name for backend in backends}
        if library.backends and not names.intersection(library.backends):
            remedy = f"write e.g. {target.packages[0]} + {library.backends[-1]}"
            choices = ", ".join(library.backends)
            self._fail(f"{library.name} needs a backend, one of {choices}", remedy)

    def _check_mode(self, mode: str, libraries: tuple[Library, ...]) -> None:
        """Raise an error if the library lacks the mode; for `current`, if no library has it."""
        candidates = libraries[:1] or LIBRARIES.items().values()
        known = [EAGER, GUARDED, *(name for library in candidates for name in library.modes)]
        if any(library.has_tf32 for library in libraries or candidates):
            known.append(TF32)
        if mode not in known:
            owner = libraries[0].name if libraries else "any library"
            hint = suggestion(mode, known)
            self._fail(
                f"{mode!r} is not a mode of {owner}",
                f"use a known mode, or join packages with ' + '.{hint}",
            )

    def _fail(self, problem: str, remedy: str) -> NoReturn:
        msg = f"target {self._text!r}: {problem}; {remedy.removesuffix('.')}."
        raise TargetSyntaxError(msg) from None


def _is_continued_by(package: str, word: str) -> bool:
    if package.endswith(".whl"):
        return False
    return package[-1] in _OPERATORS or word[0] in _OPERATORS


def _identity(package: Package) -> str:
    """Return the library's name, which `tensorflow` and `tensorflow-cpu` share."""
    if isinstance(package, ActiveEnvironment):
        return str(package)
    library = library_of_distribution(package.distribution)
    return library.name if library else package.distribution
