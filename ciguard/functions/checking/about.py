"""Description, inside a case, of the functions that its call needs: to write and to simplify it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from ciguard.domain.function_calls import is_program
from ciguard.functions.checking.annotations import module_from_json
from ciguard.functions.specs.programs import ProgramFile

if TYPE_CHECKING:
    from ciguard.domain.values import Json
    from ciguard.functions.specs.functions import ModuleSpec


@dataclass(frozen=True, slots=True)
class About:
    """Description of the program that a case calls."""

    module: ModuleSpec
    """Module with the functions that the call needs."""
    program: ProgramFile
    """Program, with paths relative to the folder in which it was tested."""
    library: str
    """Library of the tensors that the program takes; empty for none."""


def about_call(description: Json, function: str) -> Json:
    """Return the description of the functions that a call needs, for its case.

    Args:
        description: description of the module, with `root`, `name` and `library` of the program.
        function: name of the called function.
    """
    by_name = {item["name"]: item for item in description["functions"]}
    needed: dict[str, Json] = {}
    waiting = [function]
    while waiting:
        known = by_name.get(waiting.pop())
        if known is not None and known["name"] not in needed:
            needed[known["name"]] = known
            waiting += [known["constructor"], known["outer"], *_generators(known["parameters"])]
    return {
        **{key: description[key] for key in ("module", "file", "root", "name", "library")},
        "functions": list(needed.values()),
        "module_test": None,
        "problems": [],
    }


def _generators(spec: Json) -> list[str]:
    """Return the names of the functions that generate values of a parameter."""
    if isinstance(spec, list):
        return [name for item in spec for name in _generators(item)]
    if not isinstance(spec, dict):
        return []
    own = [str(spec["generator"])] if isinstance(spec.get("generator"), str) else []
    return [*own, *(name for item in spec.values() for name in _generators(item))]


def about_from_json(json: Json, file: str) -> About:
    """Return the description of a case's program.

    Args:
        json: JSON form, from `about_call` or from a file that a user may have edited.
        file: path of the program.

    Raises:
        ValueError: if `json` is not such a description.
    """
    try:
        root = str(json["root"])
        if not is_program(file) or not is_program(f"{root}/x.py"):
            msg = f"{file!r} in {root!r} is not the path of a program"
            raise ValueError(msg)  # noqa: TRY301 - all errors share one message
        program = ProgramFile(Path(PurePosixPath(file)), Path(root), str(json["name"]))
        return About(module_from_json(json), program, str(json["library"]))
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        msg = f"not a description of a function: {error!r}"
        raise ValueError(msg) from error
