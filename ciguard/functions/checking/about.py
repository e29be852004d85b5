"""What a case says of the functions that its call takes: enough to write it, and to change it."""

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
    """What is known of a call's program."""

    module: ModuleSpec
    """With the functions of the call alone."""
    program: ProgramFile
    """Its paths are relative to the folder that the program was tested in."""
    library: str
    """Whose tensors it takes; empty for none."""


def about_call(described: Json, function: str) -> Json:
    """Return what a case says of the functions that a call of one of them takes.

    Args:
        described: the description of the module, with `root`, `name` and `library` of the program.
        function: name of the function that is called.
    """
    by_name = {one["name"]: one for one in described["functions"]}
    needed: dict[str, Json] = {}
    waiting = [function]
    while waiting:
        found = by_name.get(waiting.pop())
        if found is not None and found["name"] not in needed:
            needed[found["name"]] = found
            waiting += [found["constructor"], found["outer"], *_generators(found["parameters"])]
    return {
        **{key: described[key] for key in ("module", "file", "root", "name", "library")},
        "functions": list(needed.values()),
        "module_test": None,
        "problems": [],
    }


def _generators(spec: Json) -> list[str]:
    """Return the names of the functions that make parts of values."""
    if isinstance(spec, list):
        return [name for item in spec for name in _generators(item)]
    if not isinstance(spec, dict):
        return []
    own = [str(spec["generator"])] if isinstance(spec.get("generator"), str) else []
    return [*own, *(name for item in spec.values() for name in _generators(item))]


def about_from_json(json: Json, file: str) -> About:
    """Return what a case says of its program.

    Args:
        json: what `about_call` returned, or what somebody wrote instead.
        file: of the program.

    Raises:
        ValueError: if it is nothing of the kind.
    """
    try:
        root = str(json["root"])
        if not is_program(file) or not is_program(f"{root}/x.py"):
            msg = f"{file!r} in {root!r} is no program"
            raise ValueError(msg)  # noqa: TRY301 - one message for all that may be wrong
        program = ProgramFile(Path(PurePosixPath(file)), Path(root), str(json["name"]))
        return About(module_from_json(json), program, str(json["library"]))
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        msg = f"not what is known of a function: {error!r}"
        raise ValueError(msg) from error
