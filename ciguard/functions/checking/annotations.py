"""Errors in annotations that can be found without running the program."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ciguard.functions.checking.unsatisfiable import unsatisfiable
from ciguard.functions.drawing.plan import dependencies_of, plan_of
from ciguard.functions.solving.parsing import expression_tree, names_in
from ciguard.functions.solving.resolving import all_references_of
from ciguard.functions.specs.functions import ModuleSpec, Problem
from ciguard.functions.specs.kinds import Objs, generators_of
from ciguard.functions.specs.reading import (
    functions_from_description,
    module_from_description,
    problems_from_description,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.domain.values import Json
    from ciguard.functions.specs.functions import FunctionSpec
    from ciguard.functions.specs.kinds import Spec


def module_from_json(json: Json) -> ModuleSpec:
    """Return the module that a description contains, and record its annotations' problems in it.

    Raises:
        ValueError, KeyError: if `json` is not a description.
    """
    module = module_from_description(json)
    return _with_problems(module, problems_of(module))


def module_with_functions(module: ModuleSpec, description: Json) -> ModuleSpec:
    """Return a module, extended by functions with a later description, such as nested functions.

    Args:
        module: the module.
        description: JSON description of the functions, and of the problems in their annotations.
    """
    added = functions_from_description(description)
    unchanged = tuple(
        function
        for function in module.functions
        if function.name not in {item.name for item in added}
    )
    problems = problems_from_description(description)
    extended = ModuleSpec(
        file=module.file, name=module.name, functions=(*unchanged, *added), main=module.main
    )
    return _with_problems(extended, (*module.problems, *problems, *problems_of(extended)))


def _with_problems(module: ModuleSpec, problems: tuple[Problem, ...]) -> ModuleSpec:
    return replace(
        module, problems=tuple(dict.fromkeys((*module.problems, *problems))), functions_by_name={}
    )


def problems_of(module: ModuleSpec) -> tuple[Problem, ...]:
    """Return the problems in the annotations of the tested functions."""
    return tuple(
        problem
        for function in module.functions
        if not function.is_excluded or function.has_nested_functions
        for problem in _problems(function, module)
    )


def _problems(function: FunctionSpec, module: ModuleSpec) -> Iterator[Problem]:
    """Yield the problems of a function, and of the functions that its calls need."""
    for called in _functions_of_call(function, module):
        for line, message in _missing_values(called):
            yield Problem(called.file, line, message, function.name)
        reference_problems = _wrong_references(called, module)
        for line, message in (*reference_problems, *unsatisfiable(called)):
            yield Problem(called.annotations_file or called.file, line, message, function.name)
        problem = _listed_problem(called, module)
        if called is not function and problem is not None:
            yield Problem(problem.file, problem.line, problem.message, function.name)
    cycle = _generator_cycle(function, module, ())
    if cycle:
        message = (
            f"{function.name}: generators of objs need each other in a cycle: {' → '.join(cycle)}"
        )
        yield Problem(function.file, function.line, message, function.name)


def _listed_problem(called: FunctionSpec, module: ModuleSpec) -> Problem | None:
    """Return the first problem of a function that its module's description lists; else None."""
    return next((problem for problem in module.problems if problem.function == called.name), None)


def _functions_of_call(function: FunctionSpec, module: ModuleSpec) -> list[FunctionSpec]:
    """Return a function, and all functions that are called to build its instance and arguments."""
    functions: dict[str, FunctionSpec] = {}
    pending = [function]
    while pending:
        called = pending.pop()
        if called.name in functions:
            continue
        functions[called.name] = called
        pending += [
            module.function(name)
            for name in _needed_functions(called)
            if name in module.functions_by_name
        ]
    return list(functions.values())


def _needed_functions(function: FunctionSpec) -> list[str]:
    constructors = [name for name in (function.constructor, function.outer) if name]
    return [*constructors, *_generators(function)]


def _generators(function: FunctionSpec) -> list[str]:
    specs = [parameter.spec for parameter in function.parameters if parameter.spec is not None]
    return sorted({name for spec in specs for name in generators_of(spec)})


def _generator_cycle(
    function: FunctionSpec, module: ModuleSpec, above: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the names of generators that need each other's values; empty without a cycle.

    Args:
        function: the function.
        module: module of the function.
        above: names of the functions that need the function's values.
    """
    path = (*above, function.name)
    for name in _generators(function):
        if name in path:
            return (*path, name)
        if name in module.functions_by_name:
            cycle = _generator_cycle(module.function(name), module, path)
            if cycle:
                return cycle
    return ()


def _missing_values(function: FunctionSpec) -> Iterator[tuple[int, str]]:
    """Yield the line and message of each required argument without an annotation."""
    if function.examples:
        return
    for parameter in function.parameters:
        if parameter.spec is None and not (parameter.has_default or parameter.has_problem):
            subject = f"argument {parameter.name!r} of {function.name} is not annotated"
            yield function.line, f'{subject}; add @arg("{parameter.name}", …)'


def _wrong_references(function: FunctionSpec, module: ModuleSpec) -> Iterator[tuple[int, str]]:
    """Yield the line and message of each invalid reference in the annotations of a function."""
    arguments = {parameter.name for parameter in function.parameters}
    for parameter in function.parameters:
        for text in all_references_of(parameter.spec) if parameter.spec is not None else ():
            subject = f"argument {parameter.name!r} of {function.name}: ref({text!r})"
            if expression_tree(text) is None:
                yield parameter.line, f"{subject} is not an expression"
                continue
            unknown = sorted(names_in(text) - arguments - _REFERENCE_NAMES)
            if unknown:
                yield parameter.line, f"{subject} names {unknown[0]!r}, which is not an argument"
            for name in sorted(names_in(text) & arguments):
                generator = _unpredictable_generator(function.parameter(name).spec, module)
                if generator:
                    reason = f"the result of {generator} is unknown before the call"
                    yield parameter.line, f"{subject}: {reason}; use @require instead"
    dependencies = dependencies_of(function)
    try:
        plan_of(function)
    except ValueError as error:
        line = min(
            (
                parameter.line
                for parameter in function.parameters
                if dependencies.get(parameter.name)
            ),
            default=0,
        )
        yield line or function.line, f"{function.name}: {error}"


def _unpredictable_generator(spec: Spec | None, module: ModuleSpec) -> str:
    """Return the name of a value's generator if it must run to know the value's attributes.

    Return an empty string for other values.
    """
    if not isinstance(spec, Objs) or spec.generator not in module.functions_by_name:
        return ""
    generator = module.function(spec.generator)
    return "" if generator.attributes else generator.name


_REFERENCE_NAMES = frozenset(
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
