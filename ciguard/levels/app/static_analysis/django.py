"""Applications that use Django or its REST framework."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ciguard.sources import Imports

_VARIABLE = "DJANGO_SETTINGS_MODULE"


@dataclass(frozen=True, slots=True)
class DjangoProject:
    """Settings and applications of a Django project."""

    settings: str = ""
    """Module of its settings; empty if no file names one."""
    folder: str = ""
    """Folder from which its modules are imported, relative to the root, with slashes."""
    apps: tuple[str, ...] = ()
    """Packages with models, as default settings install them."""


def is_django(names: Imports) -> bool:
    """Return whether a module with these imports uses Django, so that its requests are Django's."""
    return names.imports("django") or names.imports("rest_framework")


def named_settings(tree: ast.Module) -> str:
    """Return the module of settings that a file puts into the environment, as `manage.py` does.

    Returns:
        An empty text if it names none.
    """
    for node in ast.walk(tree):
        match node:
            case (
                ast.Call(args=[ast.Constant(value=key), ast.Constant(value=str(name))])
                | ast.Assign(
                    targets=[ast.Subscript(slice=ast.Constant(value=key))],
                    value=ast.Constant(value=str(name)),
                )
            ) if key == _VARIABLE:
                return name
            case _:
                continue
    return ""


def project_of(settings_by_file: Mapping[str, str]) -> DjangoProject:
    """Return the project that files make up.

    Args:
        settings_by_file: file relative to the root → module of settings that it names; empty for
            none.
    """
    files = {PurePosixPath(file) for file in settings_by_file}
    named = [(PurePosixPath(file), name) for file, name in settings_by_file.items() if name]
    found = [
        (name, folder)
        for file, name in named
        for folder in file.parents
        if _has(files, folder, name)
    ]
    missing = [(name, file.parent) for file, name in named]
    settings, folder = (*found, *missing, ("", PurePosixPath()))[0]
    apps = tuple(sorted(set(_apps_in(files, folder))))
    return DjangoProject(settings, "" if folder == PurePosixPath() else str(folder), apps)


def _has(files: set[PurePosixPath], folder: PurePosixPath, module: str) -> bool:
    """Return whether a module that is imported from a folder is one of the files."""
    place = folder.joinpath(*module.split("."))
    return place.with_name(f"{place.name}.py") in files or place / "__init__.py" in files


def _apps_in(files: set[PurePosixPath], folder: PurePosixPath) -> Iterator[str]:
    """Yield the packages in a folder that have models."""
    for file in files:
        package = file.parent if file.name == "models.py" else file.parent.parent
        is_models = file.name == "models.py" or file.parts[-2:] == ("models", "__init__.py")
        if is_models and package.is_relative_to(folder) and package != folder:
            yield ".".join(package.relative_to(folder).parts)
