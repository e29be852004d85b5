"""Applications that use Django or its REST framework."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ciguard.sources import Imports

_VARIABLE = "DJANGO_SETTINGS_MODULE"


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
