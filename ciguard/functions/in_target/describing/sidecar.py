"""Sidecars: files `NAME.annotations.py` of stubs with annotations for the functions of `NAME.py`.

    target = "package.module"  # needed unless the sidecar is in the program's folder

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

from ciguard.functions.in_target.describing.locations import FunctionLocation, locations_of
from ciguard.functions.in_target.describing.nesting import defines_annotated
from ciguard.functions.in_target.describing.notes import NOTES, line_of, notes_on

Json = Any

SUFFIX = ".annotations.py"
MODULE_PREFIX = "ciguard_sidecar_"
"""Beginning of the name under which a sidecar is imported."""


def target_of(path: str) -> str:
    """Return the name of the module that a sidecar names as its target; empty if it names none.

    The sidecar is parsed but not run.

    Raises:
        SyntaxError: if the file is not valid Python.
        OSError: if the file cannot be read.
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
    """Attach the annotations in a sidecar to the functions of an imported module.

    Args:
        module: the module to annotate.
        path: path of the sidecar, which is run.

    Returns:
        JSON forms of problems, as in a `Description`: functions that the module lacks, or that have
        other arguments than their stubs; stubs without annotations, and annotations that a sidecar
        cannot make.

    Raises:
        Exception: any exception that the sidecar raises.
    """
    stubs = import_sidecar(path)
    problems = []
    for location in locations_of(stubs, include_unannotated=True):
        notes = notes_on(location.function)
        problem = "" if notes is None else _move_notes(location, module, stubs, path)
        problem = problem or _ignored_annotations(location, module)
        if problem:
            line = line_of(location.function, notes_on(location.function) or {})
            problems.append(
                {"file": path, "line": line, "message": problem, "function": location.name}
            )
    module_notes = vars(stubs).get(NOTES)
    if module_notes is not None:
        vars(module)[NOTES] = module_notes
    return problems


def _ignored_annotations(location: FunctionLocation, module: Any) -> str:
    """Return why a sidecar's function would be ignored in part or whole; empty if it is not.

    A function without a counterpart in the module is a helper of the sidecar.
    """
    name = location.name
    if _find_function(module, name) is None:
        return ""
    if defines_annotated(inspect.unwrap(location.function)):
        return (
            f"a function inside {name} cannot be annotated in a sidecar; annotate it in "
            f"{module.__name__} itself"
        )
    if notes_on(location.function) is not None or location.kind == "constructor":
        return ""
    return f"{name} has no annotation and is not tested; decorate it, for example with @include"


def import_sidecar(path: str) -> Any:
    """Run a sidecar as a module, and return the module.

    Raises:
        ImportError: if the file is not a Python file.
        Exception: any exception that the sidecar raises.
    """
    stem = os.path.basename(path)[: -len(SUFFIX)]
    name = f"{MODULE_PREFIX}{stem}".replace(".", "_")
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        msg = f"{path} is not a Python file"
        raise ImportError(msg)
    stubs = importlib.util.module_from_spec(spec)
    sys.modules[name] = stubs
    spec.loader.exec_module(stubs)
    return stubs


def _move_notes(location: FunctionLocation, module: Any, stubs: Any, path: str) -> str:
    """Attach the notes of a stub to its function in the module.

    Return the reason if this is impossible; otherwise an empty text.
    """
    notes = notes_on(location.function) or {}
    real = _find_function(module, location.name)
    if real is None:
        # A generator is used by its name, so it needs no counterpart in the module.
        return "" if notes.get("generator") else f"module {module.__name__} has no {location.name}"
    problem = _argument_mismatch(location, real)
    if problem:
        return problem
    merged = {**notes, "scope": vars(stubs), "file": path}
    existing = notes_on(real)
    if existing is not None:
        for key in ("args", "requires", "ensures", "raises", "examples"):
            merged[key] = existing[key] + notes[key]
    try:
        setattr(real, NOTES, merged)
    except (AttributeError, TypeError):
        return (
            f"{location.name} of {module.__name__} is not a Python function and cannot be annotated"
        )
    return ""


def _find_function(module: Any, name: str) -> Any:
    """Return the unwrapped function with a dotted name in a module; None without one."""
    item = module
    for part in name.split("."):
        item = vars(item).get(part) if hasattr(item, "__dict__") else None
        if item is None:
            return None
    item = getattr(item, "__func__", None) or getattr(item, "fget", None) or item
    return inspect.unwrap(item)


def _argument_mismatch(location: FunctionLocation, function: Any) -> str:
    """Return how the arguments of a stub and its function differ; empty if they agree."""
    try:
        stub_names = list(inspect.signature(location.function).parameters)
        names = list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return ""  # the description reports that the signature cannot be read
    if stub_names == names:
        return ""
    return (
        f"{location.name} has the arguments ({', '.join(names)}), but the sidecar's function has "
        f"({', '.join(stub_names)})"
    )
