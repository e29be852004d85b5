"""From programs to functions that are tested: targets describe them, problems are told."""

from __future__ import annotations

import hashlib
import json
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.domain.events import Event, Warned
from ciguard.domain.text import visible
from ciguard.errors import ConfigurationError
from ciguard.functions.checking import about_call, module_from_json, with_functions
from ciguard.functions.drawing import call_sampler
from ciguard.levels.function.files import placed, programs_in
from ciguard.levels.function.level import FunctionTarget

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Sequence

    from ciguard.campaign import Group
    from ciguard.config import Config
    from ciguard.domain.values import Json
    from ciguard.execution import Dispatcher
    from ciguard.functions.specs import FunctionSpec, ModuleSpec, Problem

_CALLS_FOR_NESTED = 3
"""Of a function that defines others: which ones may depend on its arguments."""
_MAX_TOLD = 20
"""Problems of annotations that one message holds."""


def tested_functions(
    group: Group, config: Config, dispatcher: Dispatcher
) -> Generator[Event, None, list[FunctionTarget]]:
    """Have the targets of a group describe the functions of the user's programs.

    Returns:
        Those that can be tested; a warning tells of programs that need what is not there.

    Raises:
        ConfigurationError: if annotations are wrong, or a program can be imported nowhere.
        WorkerStartError: if the server of a target is gone.
    """
    tested: list[FunctionTarget] = []
    problems: list[Problem] = []
    for file, program in programs_in(config).items():
        found, why = _described(file, group, dispatcher)
        if found is None:
            yield Warned(message=f"functions: {visible(file)}: left out: {visible(why)}")
            continue
        described = {**found["description"], **placed(program), "library": found["library"]}
        whole = _with_nested(file, module_from_json(described), group, dispatcher)
        described["functions"] += whole.described
        problems += whole.module.problems
        tested += [
            FunctionTarget(file, whole.module, function, about_call(described, function.name))
            for function in whole.module.tested()
        ]
    _refuse(problems)
    return tested


def _described(file: str, group: Group, dispatcher: Dispatcher) -> tuple[Json, str]:
    """Return what the first target that can import a program says of it; else why none can."""
    reasons: list[tuple[bool, str]] = []
    for target in group.running_eagerly:
        (record,) = dispatcher.errands(target).functions([{"file": file, "calls": []}])
        if "error" not in record:
            return record, ""
        reasons.append((bool(record.get("skip")), f"{target}: {record['error']}"))
    failed = [why for is_skip, why in reasons if not is_skip]
    if failed:
        msg = f"functions: {visible(file)} cannot be imported. {visible(failed[0], limit=2_000)}"
        raise ConfigurationError(msg)
    return None, "; ".join(why for _, why in reasons)


@dataclass(frozen=True, slots=True)
class _Whole:
    """A module with the functions that others define when they are called."""

    module: ModuleSpec
    described: tuple[Json, ...] = ()
    """Those functions."""


def _with_nested(file: str, module: ModuleSpec, group: Group, dispatcher: Dispatcher) -> _Whole:
    outer = [function for function in module.functions if function.has_nested]
    calls = [call for function in outer for call in _drawn(function, module)]
    for target in group.running_eagerly if calls else ():
        (record,) = dispatcher.errands(target).functions([{"file": file, "calls": calls}])
        if "error" in record:
            continue
        functions: dict[str, Json] = {}
        for nested in record["nested"]:
            module = with_functions(module, nested)
            functions |= {one["name"]: one for one in nested["functions"]}
        return _Whole(module, tuple(functions.values()))
    return _Whole(module)


def _drawn(function: FunctionSpec, module: ModuleSpec) -> Iterator[Json]:
    sample, rng = call_sampler(function, module), random.Random(0)  # noqa: S311 - no secret
    for _ in range(_CALLS_FOR_NESTED):
        call = sample(rng)
        if call is not None:
            yield call.to_json()


def _refuse(problems: Sequence[Problem]) -> None:
    if not problems:
        return
    told = [f"{visible(p.file)}:{p.line}: {visible(p.message)}" for p in problems[:_MAX_TOLD]]
    more = len(problems) - len(told)
    listed = "\n".join([*told, *([f"and {more} more"] if more else [])])
    count = "an annotation is" if len(problems) == 1 else f"{len(problems)} annotations are"
    msg = f"functions: {count} wrong:\n{listed}"
    raise ConfigurationError(msg)


def digest_of(tested: Iterable[FunctionTarget]) -> str:
    """Return what names the functions and their annotations, wherever these stand in a file."""
    about = [[one.api, _without_lines(one.about)] for one in tested]
    return hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()


def _without_lines(described: Json) -> Json:
    if isinstance(described, list):
        return [_without_lines(item) for item in described]
    if not isinstance(described, dict):
        return described
    return {key: _without_lines(item) for key, item in described.items() if key != "line"}
