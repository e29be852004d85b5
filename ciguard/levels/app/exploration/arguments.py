"""Arguments of functions, with which they reach the services that they call."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.levels.app.exploration.content_forms import (
    FOLDER,
    PATHS,
    asked_about_forms,
    bytes_form,
    content_file,
    stored_forms,
    upload_forms,
)
from ciguard.levels.app.exploration.contents import PLAIN_TEXT
from ciguard.levels.app.exploration.guessed_values import place, setting, text_form
from ciguard.levels.app.exploration.requests import RequestContent, events, web_requests
from ciguard.levels.app.providers.description import MediaKind, kind_of
from ciguard.levels.app.static_analysis.application import MAIN
from ciguard.levels.app.static_analysis.request_reads import EVENT, REQUEST
from ciguard.levels.app.static_analysis.values import EACH

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from ciguard.domain.values import Json
    from ciguard.levels.app.exploration.contents import Contents
    from ciguard.levels.app.providers.description import Operation
    from ciguard.levels.app.static_analysis.application import Routine
    from ciguard.levels.app.static_analysis.findings import ServiceCallInputs, ServiceFunction

_FILE = re.compile(r"(path|file|file_?name|fname)$", re.IGNORECASE)
_COLLECTION = re.compile(
    r"(?:\w+\.)*(?:list|List|tuple|Tuple|set|Set|Sequence|Iterable|Iterator|Collection)"
    r"\[(?P<of>[\w.]+)(?:, \.\.\.)?\]"
)
_OPTIONAL = re.compile(r"(?:\w+\.)*Optional\[(?P<of>.*)\]")
_BY_TYPE: dict[str, Json] = {"str": PLAIN_TEXT, "int": 1, "float": 1.0, "bool": False}
_ARGV = "argv"
_NUMBERS = frozenset({"int", "float", "bool"})
"""Types of parameters that cannot hold a content."""


class CannotCallError(Exception):
    """A function cannot be called on its own; the message says why."""


def arguments_for(
    function: ServiceFunction, routine: Routine, contents: Contents, folder: Path
) -> list[dict[str, Json]]:
    """Return arguments for all parameters without a default, in all forms that they may take.

    They include the object of a method whose constructor has such parameters.

    Args:
        function: the function.
        routine: its definition.
        contents: the contents that services are asked about.
        folder: the folder for files that the function opens.

    Returns:
        Arguments by name, with the likeliest forms first.

    Raises:
        CannotCallError: if the function cannot be called from outside.
    """
    if routine.name == MAIN:
        if all(call.call_path for call in function.calls):
            msg = "its top-level code only calls functions that are explored on their own"
            raise CannotCallError(msg)
        return [{_ARGV: _argv(function, contents, folder)}]
    if "<locals>" in routine.name:
        msg = "is nested in another function"
        raise CannotCallError(msg)
    use, constructor_use = _uses(function)
    request_arguments = _request_arguments(routine, _request_content(use, contents, folder))
    forms = {
        parameter.arg: list(
            _forms(parameter, use, contents, folder)
            if _is_read(parameter, routine)
            else [{"value": None}]
        )
        for parameter in _parameters_to_fill(routine, use)
        if parameter.arg not in request_arguments
    }
    constructor = routine.constructor
    needed = _needed(constructor, constructor_use, is_bound=True) if constructor is not None else []
    constructor_forms = {
        parameter.arg: list(
            _forms_or_nothing(parameter, constructor_use, contents, folder / "made")
        )
        for parameter in needed
    }
    forms |= request_arguments
    if _reads_arguments(routine):
        forms[_ARGV] = [_argv(function, contents, folder)]
    if constructor_forms:
        class_name = routine.name.rpartition(".")[0]
        objects = [
            {"object": {"of": class_name, "named": named}} for named in _zipped(constructor_forms)
        ]
        forms = {routine.receiver or "self": objects, **forms}
    return _zipped(forms)


def _argv(function: ServiceFunction, contents: Contents, folder: Path) -> Json:
    """Return the form of a program's command-line argument: a path."""
    kind = kind_of(function.calls[0].answer.operation.task)
    return {"argv": str(content_file(kind, contents[kind], folder))}


def _request_arguments(routine: Routine, content: RequestContent) -> dict[str, list[Json]]:
    """Return the web requests and events that a function answers, by parameter."""
    arguments = {}
    if routine.request:
        arguments[REQUEST] = list(web_requests(routine, content))
    if routine.event:
        arguments[EVENT] = list(events(routine.event, content))
        if routine.parameters()[1:2] == ("context",):
            arguments["context"] = [{"invocation": "1"}]
    return arguments


def _request_content(use: _Use, contents: Contents, folder: Path) -> RequestContent:
    """Return the content of a request to a function."""
    kind = use.kind()
    file = content_file(kind, contents[kind], folder)
    (upload, *_) = upload_forms(file)
    return RequestContent(kind, contents[kind], str(file), upload, use.field)


def _zipped(forms: Mapping[str, Sequence[Json]]) -> list[dict[str, Json]]:
    """Return arguments: all in their first forms, then all in their second ones, and so on."""
    length = max(map(len, forms.values()), default=1)
    return [
        {name: options[min(index, len(options) - 1)] for name, options in forms.items()}
        for index in range(length)
    ]


@dataclass(frozen=True, slots=True)
class _Use:
    """Calls of services that the parameters of one function reach."""

    calls: tuple[tuple[Operation, ServiceCallInputs], ...]

    def about(self) -> frozenset[str]:
        """Return the parameters that reach the input of a service."""
        return frozenset(name for _, inputs in self.calls for name, _ in inputs.inputs) - {EVENT}

    def asking(self, name: str) -> list[tuple[Operation, str]]:
        """Return the operations that a parameter is an input of, with the steps on the way."""
        return [
            (operation, " ".join(steps))
            for operation, inputs in self.calls
            for parameter, steps in inputs.inputs
            if parameter == name
        ]

    def client(self, name: str) -> Operation | None:
        """Return an operation that a parameter is the client of; None if there is none."""
        return next((operation for operation, inputs in self.calls if name in inputs.clients), None)

    def kind(self) -> MediaKind:
        """Return the kind of content of the first call."""
        return kind_of(self.calls[0][0].task)

    def provider(self) -> str:
        """Return the provider of the first call."""
        return self.calls[0][0].provider

    def field(self, name: str) -> Json:
        """Return a value for a field of a request that is a setting; None for any other field."""
        value = self.setting(name, "")
        return value if value is not None else place(name) or None

    def setting(self, name: str, annotation: str) -> Json:
        """Return a value for a parameter that is a setting; None for any other parameter."""
        max_score = next(
            (operation.between[1] for operation, _ in self.calls if operation.between), 1.0
        )
        return setting(
            name, annotation, highest=max_score, is_speech=self.kind() is MediaKind.SOUND
        )


def _uses(function: ServiceFunction) -> tuple[_Use, _Use]:
    """Return the uses of a function's parameters, and of those of its constructor."""
    own = tuple((call.answer.operation, call.call_inputs) for call in function.calls)
    return _Use(own), _Use(
        tuple((call.answer.operation, call.constructor_inputs) for call in function.calls)
    )


def asked_about(function: ServiceFunction) -> frozenset[str]:
    """Return the parameters of a function and its constructor that reach a service's input."""
    return frozenset(name for use in _uses(function) for name in use.about())


def takes_contents(function: ServiceFunction, routine: Routine) -> bool:
    """Return whether a function may take a service's input as a parameter."""
    own, _ = _uses(function)
    is_given = bool(asked_about(function)) or any(map(_is_file, _parameters_to_fill(routine, own)))
    is_given |= bool(routine.request or routine.event)
    return is_given or _reads_arguments(routine)


def _reads_arguments(routine: Routine) -> bool:
    """Return whether a program reads its command line."""
    nodes = (node for statement in routine.body for node in ast.walk(statement))
    names = (node.attr if isinstance(node, ast.Attribute) else "" for node in nodes)
    return not {"argv", "ArgumentParser"}.isdisjoint(names)


def _is_file(parameter: ast.arg) -> bool:
    """Return whether a parameter is a file, by its name and annotation."""
    return bool(_FILE.search(parameter.arg)) and _annotation(parameter) in {"", "str"}


def _annotation(parameter: ast.arg) -> str:
    text = "" if parameter.annotation is None else ast.unparse(parameter.annotation)
    text = text.strip("'\"").removesuffix(" | None")
    optional = _OPTIONAL.fullmatch(text)
    return optional["of"] if optional else text


def _is_read(parameter: ast.arg, routine: Routine) -> bool:
    """Return whether a function reads a parameter: a handler's unused `context` may be None."""
    nodes = (node for statement in routine.body for node in ast.walk(statement))
    return any(isinstance(node, ast.Name) and node.id == parameter.arg for node in nodes)


def _parameters_to_fill(routine: Routine, use: _Use) -> list[ast.arg]:
    """Return the parameters that need an argument: without a default, or a service's input."""
    return _needed(routine.arguments, use, is_bound=routine.is_bound)


def _needed(arguments: ast.arguments, use: _Use, *, is_bound: bool) -> list[ast.arg]:
    about = use.about()
    positional = [*arguments.posonlyargs, *arguments.args]
    first_with_default = len(positional) - len(arguments.defaults)
    needed = [
        parameter
        for index, parameter in enumerate(positional)
        if index >= is_bound and (index < first_with_default or parameter.arg in about)
    ]
    pairs = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    return needed + [
        parameter for parameter, default in pairs if default is None or parameter.arg in about
    ]


def _forms(parameter: ast.arg, use: _Use, contents: Contents, folder: Path) -> Iterator[Json]:
    annotation = _annotation(parameter)
    collection = _COLLECTION.fullmatch(annotation)
    item_type = collection["of"] if collection else annotation
    forms = list(_forms_of_one(parameter, item_type, use, contents, folder))
    listed = [{"several": [form]} for form in forms]
    if collection is not None or _is_iterated(parameter, use):
        yield from listed
        return
    yield from forms
    if not annotation and _may_be_list(parameter, use):
        yield from listed


def _forms_or_nothing(
    parameter: ast.arg, use: _Use, contents: Contents, folder: Path
) -> Iterator[Json]:
    """Yield the forms of a constructor's parameter; None if its type is unknown."""
    try:
        yield from _forms(parameter, use, contents, folder)
    except CannotCallError:
        yield {"guess": None}


def _is_iterated(parameter: ast.arg, use: _Use) -> bool:
    """Return whether services only get items of a parameter, never the whole."""
    asking = use.asking(parameter.arg)
    return bool(asking) and all(steps.split(" ")[0] == EACH for _, steps in asking)


def _may_be_list(parameter: ast.arg, use: _Use) -> bool:
    """Return whether a parameter may be a list: an operation on many texts gets it unchanged."""
    return any(
        not steps and (operation.is_per_document or operation.name.startswith("batch_"))
        for operation, steps in use.asking(parameter.arg)
    )


def _forms_of_one(
    parameter: ast.arg, annotation: str, use: _Use, contents: Contents, folder: Path
) -> Iterator[Json]:
    name = parameter.arg
    asking = use.asking(name)
    client = use.client(name)
    if client is not None:
        yield {"client": {"provider": client.provider, "name": client.client}}
    elif (value := use.setting(name, annotation)) is not None:
        yield {"value" if annotation else "guess": value}
    elif annotation in _NUMBERS:
        yield {"value": _BY_TYPE[annotation]}
    elif asking:
        yield from asked_about_forms(name, annotation, *asking[0], contents, folder)
    elif _is_file(parameter):
        kind = use.kind()
        file = content_file(kind, contents[kind], folder)
        yield {"value": str(file)}
        yield from stored_forms(use.calls[0][0], file)
    elif annotation == "bytes":
        yield bytes_form(contents[MediaKind.IMAGE])
    else:
        yield _plain_form(name, annotation, use, folder)


def _plain_form(name: str, annotation: str, use: _Use, folder: Path) -> Json:
    """Return the form of a parameter that reaches no service, from its name and annotation."""
    text = text_form(name, use.provider()) if annotation in {"", "str"} else None
    if annotation in PATHS:
        folder.mkdir(exist_ok=True, parents=True)
        return {"path": str(folder if FOLDER.search(name) else folder / name)}
    if text is not None:
        return text
    if annotation in _BY_TYPE:
        return {"value": _BY_TYPE[annotation]}
    msg = f"the type of its parameter `{name}` is unknown; annotate it, or give it a default"
    raise CannotCallError(msg)
