"""Where seed models come from: the shipped scripts, and what a user names.

lenet5-mnist               a script that comes with ciguard
models/tower.py:build      a function that returns a `keras.Model`
models/tower.keras         a saved model, with its weights; `.h5` as well
application:ResNet50       one of `keras.applications`, with weights from seeds
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

_SAVED = (".keras", ".h5")
_SCRIPT = re.compile(r"(?P<path>.+\.py)(?::(?P<function>.*))?")
_APPLICATION = re.compile(r"(?P<kind>application|pretrained):(?P<name>.*)")
_BUILD = "build"
_WHAT = "seed model"
FOLDERS = "CIGUARD_MODELS"
"""Variable that tells workers the folders of files with weights, by name; see `keras_stored`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """A function of a Python file that returns a model; shipped, or a user's."""

    name: str
    path: Path
    function: str = _BUILD
    root: Path
    """Folder that its imports begin at, beside its own."""
    width: float = 1.0
    """Passed to the function where it takes a `width`: 1 is the published size."""

    @property
    def readable(self) -> tuple[Path, ...]:
        """What the worker that builds it must be able to read, without what is private in it."""
        return (self.path.parent, self.root)

    @property
    def writable(self) -> tuple[Path, ...]:
        """Where that worker writes to, beside its own folder."""
        return ()

    @property
    def request(self) -> Mapping[str, Json]:
        """What `execution.Dispatcher.models` takes."""
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
        """What workers must be able to read, those that run its graph as well."""
        return (self.path,)

    @property
    def writable(self) -> tuple[Path, ...]:
        """Where the worker that loads it writes to, beside its own folder."""
        return ()

    @property
    def request(self) -> Mapping[str, Json]:
        """What `execution.Dispatcher.models` takes."""
        return {"name": self.name, "file": str(self.path)}

    def owns(self, file: str) -> bool:
        """Return whether a graph of this source may read its weights from a file."""
        return file == str(self.path)

    @property
    def weights_in(self) -> Mapping[str, Path]:
        """Folders of files with weights, by their names in graphs: as the user wrote them."""
        written = Path(self.name).parent
        return {written.name if written.is_absolute() else str(written): self.path.parent}


@dataclass(frozen=True, slots=True, kw_only=True)
class KerasApplication:
    """One of `keras.applications`."""

    name: str
    application: str
    kept_in: Path | None = None
    """The folder that it is kept in with its ImageNet weights; None for weights from seeds."""

    @property
    def readable(self) -> tuple[Path, ...]:
        """What workers must be able to read, those that run its graph as well."""
        return () if self.kept_in is None else (self.kept_in,)

    @property
    def writable(self) -> tuple[Path, ...]:
        """Where the worker that downloads it writes to, beside its own folder."""
        return () if self.kept_in is None else (self.kept_in,)

    @property
    def request(self) -> Mapping[str, Json]:
        """What `execution.Dispatcher.models` takes."""
        kept = {} if self.kept_in is None else {"folder": str(self.kept_in)}
        return {"name": self.name, "application": self.application, **kept}

    def owns(self, file: str) -> bool:
        """Return whether a graph of this source may read its weights from a file."""
        return Path(file).parent == self.kept_in

    @property
    def weights_in(self) -> Mapping[str, Path]:
        """Folders of files with weights, by their names in graphs."""
        return {} if self.kept_in is None else {"pretrained": self.kept_in}


Source: TypeAlias = Script | Saved | KerasApplication


def shipped_scripts(folder: Path | None = None) -> dict[str, Path]:
    """Return the scripts that come with ciguard, by name, in the order of the names."""
    scripts = sorted((folder or seeds_folder() / "models" / "keras").glob("*.py"))
    return {path.stem.replace("_", "-"): path for path in scripts}


def parse_source(text: str, *, width: float, base: Path, keep: Path) -> Source:
    """Read how a user names a seed model; see the module's docstring.

    Args:
        text: the name, or the path of a file.
        width: of models that are made by a function.
        base: absolute folder that paths begin at, and imports of scripts.
        keep: folder for applications with their downloaded weights.

    Raises:
        UnknownNameError: if it is neither a path nor the name of a shipped model.
        ConfigurationError: if there is no such file, or the text cannot be read.
    """
    if match := _APPLICATION.fullmatch(text):
        return _application(match["kind"], match["name"], keep)
    if text.endswith(_SAVED):
        return Saved(name=text, path=_existing(text, text, base))
    if match := _SCRIPT.fullmatch(text):
        function = _BUILD if match["function"] is None else match["function"]
        if not function.isidentifier():
            msg = (
                f"seed model {text!r:.200}: {function!r:.80} is no name of a function. "
                "Write path/to/model.py:function"
            )
            raise ConfigurationError(msg)
        path = _existing(match["path"], text, base)
        return Script(name=text, path=path, function=function, root=base, width=width)
    scripts = shipped_scripts()
    if text not in scripts:
        where = "A file must end in .py, .keras or .h5. " if "/" in text or "." in text else ""
        raise UnknownNameError(_WHAT, visible(text), known=scripts, where=where)
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
    found = (base / path).resolve()
    if not found.is_file():
        folder = found.parent
        there = sorted(p.name for p in folder.iterdir()) if folder.is_dir() else []
        seen = ", ".join(name for name in there if name.endswith((".py", *_SAVED))) or "no model"
        msg = f"seed model {visible(text)!r}: there is no file {found}. {folder} holds: {seen:.300}"
        raise ConfigurationError(msg)
    return found
