"""The user's own images and texts, in one folder per label."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import unquote

from ciguard.errors import ConfigurationError
from ciguard.levels.app.input_synthesis.credits import FileCredit, read_sources
from ciguard.levels.app.input_synthesis.input_maker import InputMaker, normalised_name
from ciguard.levels.app.input_synthesis.inputs import InputSpec, ServiceInput
from ciguard.levels.app.providers.description import MediaKind, RecognitionTask, media_kind

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
"""Maximum size of a file, which Google Cloud Vision accepts."""


@dataclass(frozen=True)
class LabelledFolder(InputMaker):
    """Files in a folder with one subfolder per label; `SOURCES.csv` contains their licences.

    Characters that folder names cannot contain are percent-encoded, as in `AC%2FDC`.

    Raises:
        ConfigurationError: if the folder does not exist, or no subfolder contains a usable file.
    """

    root: Path
    _files_by_label: dict[str, list[Path]] = field(init=False, repr=False, compare=False)
    _credits: dict[str, FileCredit] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not self.root.is_dir():
            msg = (
                f"{self.root}: folder not found. "
                "Create the folder, with one subfolder of files per label."
            )
            raise ConfigurationError(msg)
        files_by_label: dict[str, list[Path]] = {}
        for folder in sorted(self.root.iterdir()):
            if _is_readable_folder(folder):
                files_by_label.setdefault(normalised_name(unquote(folder.name)), []).extend(
                    self._files(folder)
                )
        if not any(files_by_label.values()):
            msg = (
                f"{self.root} contains no subfolder with an image or text. "
                "Put .png, .jpg or .txt files into a subfolder with the name of their label."
            )
            raise ConfigurationError(msg)
        object.__setattr__(self, "_files_by_label", files_by_label)
        object.__setattr__(self, "_credits", read_sources(self.root))

    def _files(self, folder: Path) -> Iterator[Path]:
        suffixes = set().union(*_SUFFIXES.values())
        root = self.root.resolve()
        for file in sorted(folder.iterdir()):
            if file.suffix.lower() in suffixes and _is_usable(file, root):
                yield file

    def serves(self, wanted: InputSpec) -> bool:
        """Return whether the folder contains files of the label."""
        return bool(self._files_of(wanted))

    def _files_of(self, wanted: InputSpec) -> list[Path]:
        if wanted.task not in _TASKS or not wanted.key:
            return []
        suffixes = _SUFFIXES[media_kind(wanted.task)]
        files = self._files_by_label.get(normalised_name(wanted.key.strip("/")), [])
        return [file for file in files if file.suffix.lower() in suffixes]

    def generate(self, wanted: InputSpec, rng: random.Random) -> Iterator[ServiceInput]:
        """Yield the files of the label; see `InputMaker`."""
        files = self._files_of(wanted)
        inputs = (self._input(wanted, file) for file in rng.sample(files, len(files)))
        yield from filter(_has_known_format, inputs)

    def every(self, task: RecognitionTask) -> Iterator[ServiceInput]:
        """Yield every file as an input of a task, with the label that its subfolder names."""
        for label in self._files_by_label:
            wanted = InputSpec(task, label)
            inputs = (self._input(wanted, file) for file in self._files_of(wanted))
            yield from filter(_has_known_format, inputs)

    def _input(self, wanted: InputSpec, file: Path) -> ServiceInput:
        name = file.relative_to(self.root).as_posix()
        source = self._credits.get(name)
        return ServiceInput(wanted, file.read_bytes(), name, source.credit if source else "")


def _is_readable_folder(folder: Path) -> bool:
    try:
        return folder.is_dir() and os.access(folder, os.R_OK | os.X_OK)
    except OSError:
        return False


def _is_usable(file: Path, root: Path) -> bool:
    """Return whether a file is inside the folder `root`, readable and not too large."""
    try:
        is_inside = file.resolve().is_relative_to(root)
        is_small = file.is_file() and file.stat().st_size <= _MAX_BYTES
        return is_inside and is_small and os.access(file, os.R_OK)
    except (OSError, RuntimeError):  # for example, a link to itself
        return False


def _has_known_format(service_input: ServiceInput) -> bool:
    """Return whether an input is a text, or an image in the format PNG or JPEG."""
    return service_input.kind is not MediaKind.IMAGE or service_input.content.startswith(
        (b"\x89PNG", b"\xff\xd8\xff")
    )
