"""Description of the functions that a case's call needs, stored in the case.

With it, the call can be written as source text and simplified without the program.
"""

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
class CalledProgram:
    """The program whose function a case calls."""

    module: ModuleSpec
    """Module with the functions that the call needs."""
    program: ProgramFile
    """The program's file, with paths relative to the folder in which it was tested."""
    library: str
    """Name of the library whose tensors the program uses; empty for none."""
    path: tuple[str, ...] = ()
    """Folders that the program imports from, besides its own."""


def called_program_json(description: Json, function: str) -> Json:
    """Return the JSON form of the functions that a call needs, to be stored in its case.

    Args:
        description: JSON description of the module, with `root`, `name` and `library` of the
            program, and `path` if the program imports from further folders.
        function: name of the called function.
    """
    descriptions = {item["name"]: item for item in description["functions"]}
    needed: dict[str, Json] = {}
    pending = [function]
    while pending:
        known = descriptions.get(pending.pop())
        if known is not None and known["name"] not in needed:
            needed[known["name"]] = known
            pending += [known["constructor"], known["outer"], *_generators(known["parameters"])]
    return {
        **{key: description[key] for key in ("module", "file", "root", "name", "library")},
        **({"path": description["path"]} if description.get("path") else {}),
        "functions": list(needed.values()),
        "module_test": None,
        "problems": [],
    }


def _generators(spec: Json) -> list[str]:
    """Return the names of the functions that generate values, from a constraint's JSON form."""
    if isinstance(spec, list):
        return [name for item in spec for name in _generators(item)]
    if not isinstance(spec, dict):
        return []
    names = [str(spec["generator"])] if isinstance(spec.get("generator"), str) else []
    return [*names, *(name for item in spec.values() for name in _generators(item))]


def called_program_from_json(json: Json, file: str) -> CalledProgram:
    """Return the program whose function a case calls.

    Args:
        json: JSON form, from `called_program_json` or from a file that a user may have edited.
        file: path of the program.

    Raises:
        ValueError: if `json` is not the JSON form of a called program, or `file` no relative path.
    """
    try:
        root = str(json["root"])
        if not is_program(file) or not is_program(f"{root}/x.py"):
            msg = f"{file!r} in {root!r} is not the path of a program"
            raise ValueError(msg)  # noqa: TRY301 - the handler below adds the same text to all errors
        program = ProgramFile(Path(PurePosixPath(file)), Path(root), str(json["name"]))
        path = tuple(map(str, json.get("path", ())))
        return CalledProgram(module_from_json(json), program, str(json["library"]), path)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        msg = f"the description of the called function is malformed: {error!r}"
        raise ValueError(msg) from error
