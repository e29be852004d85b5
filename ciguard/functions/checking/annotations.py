"""Annotations that cannot be meant, as far as that can be told without running anything."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ciguard.functions.checking.unsatisfiable import unsatisfiable
from ciguard.functions.drawing.plan import needs_of, plan_of
from ciguard.functions.solving.parsing import names_in, parsed
from ciguard.functions.solving.resolving import every_reference_of
from ciguard.functions.specs.functions import ModuleSpec, Problem
from ciguard.functions.specs.kinds import Objs, generators_of
from ciguard.functions.specs.reading import (
    described_functions,
    described_module,
    described_problems,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.domain.values import Json
    from ciguard.functions.specs.functions import FunctionSpec
    from ciguard.functions.specs.kinds import Spec


def module_from_json(json: Json) -> ModuleSpec:
    """Return the module that a description describes, with all problems of its annotations.

    Raises:
        ValueError, KeyError: if `json` is no description.
    """
    module = described_module(json)
    return _with_problems(module, problems_of(module))


def with_functions(module: ModuleSpec, described: Json) -> ModuleSpec:
    """Return a module with functions that were described later, such as nested ones."""
    added = described_functions(described)
    known = tuple(f for f in module.functions if f.name not in {one.name for one in added})
    later = described_problems(described)
    whole = ModuleSpec(
        file=module.file, name=module.name, functions=(*known, *added), main=module.main
    )
    return _with_problems(whole, (*module.problems, *later, *problems_of(whole)))


def _with_problems(module: ModuleSpec, more: tuple[Problem, ...]) -> ModuleSpec:
    return replace(module, problems=tuple(dict.fromkeys((*module.problems, *more))), by_name={})


def problems_of(module: ModuleSpec) -> tuple[Problem, ...]:
    """Return what is wrong with the annotations of the functions that are tested."""
    return tuple(
        problem
        for function in module.functions
        if not function.excluded or function.has_nested
        for problem in _problems(function, module)
    )


def _problems(function: FunctionSpec, module: ModuleSpec) -> Iterator[Problem]:
    """Yield the problems of a function and of those that make what it is called with."""
    for part in _parts(function, module):
        for line, message in _without_values(part):
            yield Problem(part.file, line, message, function.name)
        wrong_references = _references(part, module)
        for line, message in (*wrong_references, *unsatisfiable(part)):
            yield Problem(part.annotated_in or part.file, line, message, function.name)
        wrong = _wrongly_described(part, module)
        if part is not function and wrong is not None:
            yield Problem(wrong.file, wrong.line, wrong.message, function.name)
    circle = _circle(function, module, ())
    if circle:
        message = f"{function.name}: objs makes a value from itself: {' → '.join(circle)}"
        yield Problem(function.file, function.line, message, function.name)


def _wrongly_described(part: FunctionSpec, module: ModuleSpec) -> Problem | None:
    return next((p for p in module.problems if p.function == part.name), None)


def _parts(function: FunctionSpec, module: ModuleSpec) -> list[FunctionSpec]:
    found: dict[str, FunctionSpec] = {}
    waiting = [function]
    while waiting:
        part = waiting.pop()
        if part.name in found:
            continue
        found[part.name] = part
        waiting += [module.function(name) for name in _needed(part) if name in module.by_name]
    return list(found.values())


def _needed(function: FunctionSpec) -> list[str]:
    constructors = [name for name in (function.constructor, function.outer) if name]
    return [*constructors, *_generators(function)]


def _generators(function: FunctionSpec) -> list[str]:
    specs = [p.spec for p in function.parameters if p.spec is not None]
    return sorted({name for spec in specs for name in generators_of(spec)})


def _circle(function: FunctionSpec, module: ModuleSpec, above: tuple[str, ...]) -> tuple[str, ...]:
    path = (*above, function.name)
    for name in _generators(function):
        if name in path:
            return (*path, name)
        if name in module.by_name:
            circle = _circle(module.function(name), module, path)
            if circle:
                return circle
    return ()


def _without_values(function: FunctionSpec) -> Iterator[tuple[int, str]]:
    if function.examples:
        return
    for parameter in function.parameters:
        if parameter.spec is None and not (parameter.default or parameter.is_wrong):
            shown = f"argument {parameter.name!r} of {function.name} has no values"
            yield function.line, f'{shown}: annotate it with @arg("{parameter.name}", …)'


def _references(function: FunctionSpec, module: ModuleSpec) -> Iterator[tuple[int, str]]:
    known = {p.name for p in function.parameters}
    for parameter in function.parameters:
        for text in every_reference_of(parameter.spec) if parameter.spec is not None else ():
            where = f"argument {parameter.name!r} of {function.name}: ref({text!r})"
            if parsed(text) is None:
                yield parameter.line, f"{where} is no expression"
                continue
            unknown = sorted(names_in(text) - known - _BUILTIN)
            if unknown:
                yield parameter.line, f"{where} names {unknown[0]!r}, which is no argument"
            for name in sorted(names_in(text) & known):
                maker = _maker(function.parameter(name).spec, module)
                if maker:
                    made = f"what {maker} makes is not known before it is made"
                    yield parameter.line, f"{where}: {made}; state it with @require"
    needs = needs_of(function)
    try:
        plan_of(function)
    except ValueError as error:
        line = min((p.line for p in function.parameters if needs.get(p.name)), default=0)
        yield line or function.line, f"{function.name}: {error}"


def _maker(spec: Spec | None, module: ModuleSpec) -> str:
    """Return the function whose results can only be asked when they live; empty for none."""
    if not isinstance(spec, Objs) or spec.generator not in module.by_name:
        return ""
    made_by = module.function(spec.generator)
    return "" if made_by.attributes else made_by.name


_BUILTIN = frozenset(
    (
        "len",
        "min",
        "max",
        "abs",
        "sum",
        "int",
        "float",
        "round",
        "sorted",
        "tuple",
        "list",
        "set",
        "all",
        "any",
        "range",
        "zip",
        "divmod",
        "np",
        "torch",
        "math",
        "prod",
        "numpy",
        "type",
        "isinstance",
        "str",
        "bool",
        "dict",
        "enumerate",
    )
)
