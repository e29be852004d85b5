"""Sources of seed models, as the user names them.

lenet5-mnist               a script that ciguard ships
models/tower.py:build      a function that returns a `keras.Model`
models/tower.keras         a saved model with its weights; also `.h5`
application:ResNet50       a model of `keras.applications` with random weights
pretrained:ResNet50        a model of `keras.applications` with ImageNet weights, downloaded once
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from ciguard.domain.text import visible
from ciguard.errors import ConfigurationError, UnknownNameError
from ciguard.project import seeds_folder

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ciguard.domain.values import Json

_SAVED_SUFFIXES = (".keras", ".h5")
_SCRIPT = re.compile(r"(?P<path>.+\.py)(?::(?P<function>.*))?")
_APPLICATION = re.compile(r"(?P<kind>application|pretrained):(?P<name>.*)")
_BUILD = "build"
_KIND = "seed model"
FOLDERS = "CIGUARD_MODELS"
"""Environment variable of workers: JSON with the folders of weight files, by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelScript:
    """A function in a Python file that returns a model; the file is shipped or the user's."""

    name: str
    """Name or path, as the user wrote it."""
    path: Path
    """Path of the file."""
    function: str = _BUILD
    """Name of the function."""
    root: Path
    """Folder from which the file may import modules, besides its own folder."""
    width: float = 1.0
    """Argument for the function's parameter `width`, if it has one; 1 is the published width."""

    @property
    def readable(self) -> tuple[Path, ...]:
        """Paths that the worker that builds the model must be able to read."""
        return (self.path.parent, self.root)

    @property
    def writable(self) -> tuple[Path, ...]:
        """Paths to which that worker may write, besides its own folder."""
        return ()

    @property
    def request(self) -> Mapping[str, Json]:
        """Request for `execution.Dispatcher.models`."""
        return {
            "name": self.name,
            "script": str(self.path),
            "function": self.function,
            "root": str(self.root),
            "width": self.width,
        }

    def may_read_weights(self, file: str) -> bool:
        """Return False: a graph of this source may not read its weights from a file."""
        del file
        return False

    @property
    def weight_folders(self) -> Mapping[str, Path]:
        """Folders of weight files, by their names in graphs; none for a script."""
        return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedModel:
    """A model in a `.keras` or `.h5` file."""

    name: str
    """Path as the user wrote it."""
    path: Path
    """Absolute path of the file."""

    @property
    def readable(self) -> tuple[Path, ...]:
        """Paths that workers must be able to read, to load the model and to run its graph."""
        return (self.path,)

    @property
    def writable(self) -> tuple[Path, ...]:
        """Paths to which the worker that loads the model may write, besides its own folder."""
        return ()

    @property
    def request(self) -> Mapping[str, Json]:
        """Request for `execution.Dispatcher.models`."""
        return {"name": self.name, "file": str(self.path)}

    def may_read_weights(self, file: str) -> bool:
        """Return whether a graph of this source may read its weights from a file."""
        return file == str(self.path)

    @property
    def weight_folders(self) -> Mapping[str, Path]:
        """Folders of weight files, by their names in graphs, which hide absolute paths."""
        folder = Path(self.name).parent
        return {folder.name if folder.is_absolute() else str(folder): self.path.parent}


@dataclass(frozen=True, slots=True, kw_only=True)
class KerasApplication:
    """A model of `keras.applications`."""

    name: str
    """Name as the user wrote it, e.g. `pretrained:ResNet50`."""
    application: str
    """Name of the function in `keras.applications`."""
    weights_folder: Path | None = None
    """Folder for the downloaded ImageNet weights; None for random weights."""

    @property
    def readable(self) -> tuple[Path, ...]:
        """Paths that workers must be able to read, to load the model and to run its graph."""
        return () if self.weights_folder is None else (self.weights_folder,)

    @property
    def writable(self) -> tuple[Path, ...]:
        """Paths to which the downloading worker may write, besides its own folder."""
        return () if self.weights_folder is None else (self.weights_folder,)

    @property
    def request(self) -> Mapping[str, Json]:
        """Request for `execution.Dispatcher.models`."""
        folder = {} if self.weights_folder is None else {"folder": str(self.weights_folder)}
        return {"name": self.name, "application": self.application, **folder}

    def may_read_weights(self, file: str) -> bool:
        """Return whether a graph of this source may read its weights from a file."""
        return Path(file).parent == self.weights_folder

    @property
    def weight_folders(self) -> Mapping[str, Path]:
        """Folders of weight files, by their names in graphs."""
        return {} if self.weights_folder is None else {"pretrained": self.weights_folder}


SeedSource: TypeAlias = ModelScript | SavedModel | KerasApplication
"""Source of a seed model."""


def shipped_scripts(folder: Path | None = None) -> dict[str, Path]:
    """Return the paths of the scripts that ciguard ships, by model name, sorted."""
    scripts = sorted((folder or seeds_folder() / "models" / "keras").glob("*.py"))
    return {path.stem.replace("_", "-"): path for path in scripts}


def parse_source(text: str, *, width: float, base: Path, weights_folder: Path) -> SeedSource:
    """Return the source of a seed model that the user named; see the module's docstring.

    Args:
        text: the text that names the model.
        width: the width of models that a function builds, relative to the published width.
        base: the absolute folder to which paths of files and imports of scripts refer.
        weights_folder: the folder for downloaded weights of applications.

    Raises:
        UnknownNameError: if the text is neither a path nor the name of a shipped model.
        ConfigurationError: if the file is missing or the text is invalid.
    """
    if match := _APPLICATION.fullmatch(text):
        return _application(match["kind"], match["name"], weights_folder)
    if text.endswith(_SAVED_SUFFIXES):
        return SavedModel(name=text, path=_existing(text, text, base))
    if match := _SCRIPT.fullmatch(text):
        function = _BUILD if match["function"] is None else match["function"]
        if not function.isidentifier():
            msg = (
                f"seed model {text!r:.200}: {function!r:.80} is not a function name. "
                "Write path/to/model.py:function"
            )
            raise ConfigurationError(msg)
        path = _existing(match["path"], text, base)
        return ModelScript(name=text, path=path, function=function, root=base, width=width)
    scripts = shipped_scripts()
    if text not in scripts:
        hint = "A file must end in .py, .keras or .h5. " if "/" in text or "." in text else ""
        raise UnknownNameError(_KIND, visible(text), known=scripts, where=hint)
    path = scripts[text]
    return ModelScript(name=text, path=path, root=path.parent, width=width)


def _application(kind: str, name: str, weights_folder: Path) -> KerasApplication:
    if not name.isidentifier():
        msg = (
            f"seed model '{kind}:{visible(name)}': write {kind}:NAME with a model of "
            f"keras.applications, such as {kind}:MobileNetV2"
        )
        raise ConfigurationError(msg)
    folder = weights_folder if kind == "pretrained" else None
    return KerasApplication(name=f"{kind}:{name}", application=name, weights_folder=folder)


def _existing(path: str, text: str, base: Path) -> Path:
    file = (base / path).resolve()
    if not file.is_file():
        folder = file.parent
        names = sorted(p.name for p in folder.iterdir()) if folder.is_dir() else []
        models = ", ".join(name for name in names if name.endswith((".py", *_SAVED_SUFFIXES)))
        msg = (
            f"seed model {visible(text)!r}: there is no file {file}. "
            f"{folder} contains: {models or 'no model':.300}"
        )
        raise ConfigurationError(msg)
    return file
