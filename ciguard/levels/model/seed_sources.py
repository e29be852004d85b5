"""Sources of seed models: the shipped scripts, and what the user specifies.

lenet5-mnist               a script that ciguard ships
models/tower.py:build      a function that returns a `keras.Model`
models/tower.keras         a saved model with its weights; also `.h5`
application:ResNet50       a model of `keras.applications` with random weights
pretrained:ResNet50        the same with its ImageNet weights, downloaded once
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
"""Environment variable with the folders of weight files for workers, by name; see
`keras_stored`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """A function of a Python file that returns a model; shipped or the user's."""

    name: str
    path: Path
    function: str = _BUILD
    root: Path
    """Folder that its imports start from, beside its own."""
    width: float = 1.0
    """Argument for the function's parameter `width`, if it has one; 1 is the published size."""

    @property
    def readable(self) -> tuple[Path, ...]:
        """Paths that the worker that builds it may read, without private parts."""
        return (self.path.parent, self.root)

    @property
    def writable(self) -> tuple[Path, ...]:
        """Paths that this worker may write, beside its own folder."""
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

    def owns(self, file: str) -> bool:
        """Return whether a graph of this source may read its weights from a file: never."""
        del file
        return False

    @property
    def weights_in(self) -> Mapping[str, Path]:
        """Folders of files with weights, by their names in graphs."""
        return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Saved:
    """A `.keras` or `.h5` file."""

    name: str
    path: Path

    @property
    def readable(self) -> tuple[Path, ...]:
        """Paths that workers must be able to read, including those that run its graph."""
        return (self.path,)

    @property
    def writable(self) -> tuple[Path, ...]:
        """Paths that the worker that loads it may write, beside its own folder."""
        return ()

    @property
    def request(self) -> Mapping[str, Json]:
        """Request for `execution.Dispatcher.models`."""
        return {"name": self.name, "file": str(self.path)}

    def owns(self, file: str) -> bool:
        """Return whether a graph of this source may read its weights from a file."""
        return file == str(self.path)

    @property
    def weights_in(self) -> Mapping[str, Path]:
        """Folders of weight files, by their names in graphs: as the user wrote them."""
        given_folder = Path(self.name).parent
        return {
            given_folder.name if given_folder.is_absolute() else str(given_folder): self.path.parent
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class KerasApplication:
    """A model of `keras.applications`."""

    name: str
    application: str
    kept_in: Path | None = None
    """Folder for its ImageNet weights; None for random weights."""

    @property
    def readable(self) -> tuple[Path, ...]:
        """Paths that workers must be able to read, including those that run its graph."""
        return () if self.kept_in is None else (self.kept_in,)

    @property
    def writable(self) -> tuple[Path, ...]:
        """Paths that the worker that downloads it may write, beside its own folder."""
        return () if self.kept_in is None else (self.kept_in,)

    @property
    def request(self) -> Mapping[str, Json]:
        """Request for `execution.Dispatcher.models`."""
        kept = {} if self.kept_in is None else {"folder": str(self.kept_in)}
        return {"name": self.name, "application": self.application, **kept}

    def owns(self, file: str) -> bool:
        """Return whether a graph of this source may read its weights from a file."""
        return Path(file).parent == self.kept_in

    @property
    def weights_in(self) -> Mapping[str, Path]:
        """Folders of weight files, by their names in graphs."""
        return {} if self.kept_in is None else {"pretrained": self.kept_in}


Source: TypeAlias = Script | Saved | KerasApplication


def shipped_scripts(folder: Path | None = None) -> dict[str, Path]:
    """Return the scripts that ciguard ships, by name, sorted."""
    scripts = sorted((folder or seeds_folder() / "models" / "keras").glob("*.py"))
    return {path.stem.replace("_", "-"): path for path in scripts}


def parse_source(text: str, *, width: float, base: Path, keep: Path) -> Source:
    """Parse the user's specification of a seed model; see the module's docstring.

    Args:
        text: the name, or the path of a file.
        width: the width of models that a function builds.
        base: the absolute folder that paths and imports of scripts start from.
        keep: the folder for downloaded weights of applications.

    Raises:
        UnknownNameError: if the text is neither a path nor the name of a shipped model.
        ConfigurationError: if the file is missing or the text is invalid.
    """
    if match := _APPLICATION.fullmatch(text):
        return _application(match["kind"], match["name"], keep)
    if text.endswith(_SAVED_SUFFIXES):
        return Saved(name=text, path=_existing(text, text, base))
    if match := _SCRIPT.fullmatch(text):
        function = _BUILD if match["function"] is None else match["function"]
        if not function.isidentifier():
            msg = (
                f"seed model {text!r:.200}: {function!r:.80} is not a function name. "
                "Write path/to/model.py:function"
            )
            raise ConfigurationError(msg)
        path = _existing(match["path"], text, base)
        return Script(name=text, path=path, function=function, root=base, width=width)
    scripts = shipped_scripts()
    if text not in scripts:
        hint = "A file must end in .py, .keras or .h5. " if "/" in text or "." in text else ""
        raise UnknownNameError(_KIND, visible(text), known=scripts, where=hint)
    path = scripts[text]
    return Script(name=text, path=path, root=path.parent, width=width)


def _application(kind: str, name: str, keep: Path) -> KerasApplication:
    if not name.isidentifier():
        msg = (
            f"seed model '{kind}:{visible(name)}': write {kind}:NAME with a model of "
            f"keras.applications, such as {kind}:MobileNetV2"
        )
        raise ConfigurationError(msg)
    kept = keep if kind == "pretrained" else None
    return KerasApplication(name=f"{kind}:{name}", application=name, kept_in=kept)


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
