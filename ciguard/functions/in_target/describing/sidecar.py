"""Annotations beside a program: `NAME.annotations.py`, whose stubs carry them for `NAME.py`.

    target = "package.module"  # unless the file lies beside the program

    @arg("size", ints(1, 8))
    def build(size): ...

    class Model:
        @arg("x", tensors("float32", (2, 3)))
        def forward(self, x): ...

Runs in a target's interpreter: standard library only, Python 3.9 and later.
"""

from __future__ import annotations

import ast
import importlib.util
import inspect
import os
import sys
from typing import Any

from ciguard.functions.in_target.describing.notes import NOTES, line_of, notes_on
from ciguard.functions.in_target.describing.places import FunctionLocation, places_of

Json = Any

SUFFIX = ".annotations.py"


def target_of(path: str) -> str:
    """Return the module that a sidecar names as its target; empty where it names none.

    Nothing of the file is run.

    Raises:
        SyntaxError: if it is no Python.
        OSError: if it cannot be read.
    """
    with open(path, encoding="utf-8") as file:
        tree = ast.parse(file.read(), path)
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
            names = [target.id for target in node.targets if isinstance(target, ast.Name)]
            if names == ["target"] and isinstance(node.value.value, str):
                return node.value.value
    return ""


def apply_sidecar(module: Any, path: str) -> list[Json]:
    """Move the annotations of a sidecar onto the functions of an imported module.

    Args:
        module: that the sidecar is for.
        path: of the sidecar, which is run.

    Returns:
        Problems, in the form of those of `Description`: functions that there are not, or that have
        other arguments.

    Raises:
        Exception: whatever running the sidecar raises.
    """
    stubs = _imported(path)
    problems = []
    for place in places_of(stubs):
        problem = _moved(place, module, stubs, path)
        if problem:
            line = line_of(place.function, notes_on(place.function) or {})
            problems.append(
                {"file": path, "line": line, "message": problem, "function": place.name}
            )
    main = vars(stubs).get(NOTES)
    if main is not None:
        vars(module)[NOTES] = main
    return problems


def _imported(path: str) -> Any:
    stem = os.path.basename(path)[: -len(SUFFIX)]
    name = f"ciguard_sidecar_{stem}".replace(".", "_")
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        msg = f"{path} is no Python file"
        raise ImportError(msg)
    stubs = importlib.util.module_from_spec(spec)
    sys.modules[name] = stubs
    spec.loader.exec_module(stubs)
    return stubs


def _moved(place: FunctionLocation, module: Any, stubs: Any, path: str) -> str:
    """Move the notes of one stub; return why it cannot be."""
    notes = notes_on(place.function) or {}
    real = _real(module, place.name)
    if real is None:
        # What it makes is used by name; it needs no counterpart.
        return "" if notes.get("generator") else f"{module.__name__} has no {place.name}"
    problem = _other_arguments(place, real)
    if problem:
        return problem
    moved = {**notes, "scope": vars(stubs), "file": path}
    own = notes_on(real)
    if own is not None:
        for key in ("args", "requires", "ensures", "raises", "examples"):
            moved[key] = own[key] + notes[key]
    try:
        setattr(real, NOTES, moved)
    except (AttributeError, TypeError):
        return f"{place.name} of {module.__name__} takes no annotations: it is no Python function"
    return ""


def _real(module: Any, name: str) -> Any:
    found = module
    for part in name.split("."):
        found = vars(found).get(part) if hasattr(found, "__dict__") else None
        if found is None:
            return None
    found = getattr(found, "__func__", None) or getattr(found, "fget", None) or found
    return inspect.unwrap(found)


def _other_arguments(place: FunctionLocation, real: Any) -> str:
    try:
        stub = list(inspect.signature(place.function).parameters)
        own = list(inspect.signature(real).parameters)
    except (TypeError, ValueError):
        return ""  # what has no signature is told of when it is described
    if stub == own:
        return ""
    return f"{place.name} has the arguments ({', '.join(own)}), not ({', '.join(stub)})"
