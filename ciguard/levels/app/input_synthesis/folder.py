"""A user's own images and texts, in a folder for each label."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import unquote

from ciguard.errors import ConfigurationError
from ciguard.levels.app.input_synthesis.inputs import InputSpec, ServiceInput
from ciguard.levels.app.input_synthesis.sources import FileCredit, read_sources
from ciguard.levels.app.input_synthesis.variants import InputMaker, normalised_name
from ciguard.levels.app.providers.description import MediaKind, RecognitionTask, kind_of

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator
    from pathlib import Path

_TASKS = frozenset({
    RecognitionTask.LABELS, RecognitionTask.OBJECTS, RecognitionTask.FACES,
    RecognitionTask.CATEGORIES,
})  # fmt: skip
_SUFFIXES = {MediaKind.IMAGE: {".png", ".jpg", ".jpeg"}, MediaKind.TEXT: {".txt"}}
_MAX_BYTES = 20 * 2**20
"""Maximum size of a file, as Vision accepts."""


@dataclass(frozen=True)
class LabelledFolder(InputMaker):
    """Draws from a folder with a folder of files for each label; `SOURCES.csv` has their licences.

    Characters that folder names cannot have are percent-encoded: `AC%2FDC`.

    Raises:
        ConfigurationError: if there is no such folder, or no folder with a file in it.
    """

    root: Path
    _by_label: dict[str, list[Path]] = field(init=False, repr=False, compare=False)
    _sources: dict[str, FileCredit] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not self.root.is_dir():
            msg = f"{self.root}: no such folder. Create it, with a folder of files for each label."
            raise ConfigurationError(msg)
        found: dict[str, list[Path]] = {}
        for folder in sorted(self.root.iterdir()):
            if _is_readable(folder):
                found.setdefault(normalised_name(unquote(folder.name)), []).extend(
                    self._files(folder)
                )
        if not any(found.values()):
            msg = (
                f"{self.root}: contains no folder with an image or text. "
                "Put .png, .jpg or .txt files into a folder named like their label."
            )
            raise ConfigurationError(msg)
        object.__setattr__(self, "_by_label", found)
        object.__setattr__(self, "_sources", read_sources(self.root))

    def _files(self, folder: Path) -> Iterator[Path]:
        suffixes = set().union(*_SUFFIXES.values())
        inside = self.root.resolve()
        for file in sorted(folder.iterdir()):
            if file.suffix.lower() in suffixes and _is_usable(file, inside):
                yield file

    def serves(self, wanted: InputSpec) -> bool:
        """Return whether there are files of the label."""
        return bool(self._files_of(wanted))

    def _files_of(self, wanted: InputSpec) -> list[Path]:
        if wanted.task not in _TASKS or not wanted.key:
            return []
        suffixes = _SUFFIXES[kind_of(wanted.task)]
        known = self._by_label.get(normalised_name(wanted.key.strip("/")), [])
        return [file for file in known if file.suffix.lower() in suffixes]

    def generate(self, wanted: InputSpec, rng: random.Random) -> Iterator[ServiceInput]:
        """Yield the files of the label; see `InputMaker`."""
        files = self._files_of(wanted)
        drawn = (self._input(wanted, file) for file in rng.sample(files, len(files)))
        yield from filter(_matches_suffix, drawn)

    def every(self, task: RecognitionTask) -> Iterator[ServiceInput]:
        """Yield each file as an input of a task, for the label that its folder names."""
        for label in self._by_label:
            wanted = InputSpec(task, label)
            inputs = (self._input(wanted, file) for file in self._files_of(wanted))
            yield from filter(_matches_suffix, inputs)

    def _input(self, wanted: InputSpec, file: Path) -> ServiceInput:
        name = file.relative_to(self.root).as_posix()
        source = self._sources.get(name)
        return ServiceInput(wanted, file.read_bytes(), name, source.credit if source else "")


def _is_readable(folder: Path) -> bool:
    try:
        return folder.is_dir() and os.access(folder, os.R_OK | os.X_OK)
    except OSError:
        return False


def _is_usable(file: Path, inside: Path) -> bool:
    """Return whether a file lies in the folder, is readable and not too large."""
    try:
        is_inside = file.resolve().is_relative_to(inside)
        is_small = file.is_file() and file.stat().st_size <= _MAX_BYTES
        return is_inside and is_small and os.access(file, os.R_OK)
    except (OSError, RuntimeError):  # a link to itself
        return False


def _matches_suffix(drawn: ServiceInput) -> bool:
    """Return whether the content fits the file suffix: PNG or JPEG, unless it is no image."""
    return drawn.kind is not MediaKind.IMAGE or drawn.content.startswith(
        (b"\x89PNG", b"\xff\xd8\xff")
    )
