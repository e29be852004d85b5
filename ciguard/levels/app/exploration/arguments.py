"""Arguments for an application's functions, chosen so that their service calls are reached.

Each argument is a form: a dictionary with one key, which `in_target.given` builds the value from.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.levels.app.exploration.content_forms import (
    FOLDER,
    PATH_TYPES,
    bytes_form,
    content_file,
    service_input_forms,
    stored_forms,
    upload_forms,
)
from ciguard.levels.app.exploration.contents import PLAIN_TEXT
from ciguard.levels.app.exploration.guessed_values import location_value, setting_value, text_form
from ciguard.levels.app.exploration.parameter_reads import form_by_reads, keys_read
from ciguard.levels.app.exploration.requests import RequestContent, events, web_requests
from ciguard.levels.app.providers.description import MediaKind, media_kind
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

_FILE_NAME = re.compile(r"(path|file|file_?name|fname)$", re.IGNORECASE)
_COLLECTION = re.compile(
    r"(?:\w+\.)*(?:list|List|tuple|Tuple|set|Set|Sequence|Iterable|Iterator|Collection)"
    r"\[(?P<item>[\w.]+)(?:, \.\.\.)?\]"
)
_DICTIONARY = re.compile(r"|(?:\w+\.)*[Dd]ict(?:\[.*\])?")
"""Annotation of a parameter that may be a dictionary; empty for none."""
_OPTIONAL = re.compile(r"(?:\w+\.)*Optional\[(?P<item>.*)\]")
_VALUES_BY_TYPE: dict[str, Json] = {"str": PLAIN_TEXT, "int": 1, "float": 1.0, "bool": False}
_ARGV, _INPUT = "argv", "input"
_NUMBER_TYPES = frozenset({"int", "float", "bool"})
"""Types of parameters that cannot hold an image, a text or a sound."""


ONLY_CALLS_FUNCTIONS = "its top-level code only calls functions that are explored on their own"
"""Reason why the top-level code of a file is not explored, although nothing is left out."""


class CannotCallError(Exception):
    """A function cannot be called on its own; the message says why."""


def arguments_for(
    function: ServiceFunction, routine: Routine, contents: Contents, folder: Path
) -> list[dict[str, Json]]:
    """Return alternative arguments for all parameters without a default.

    If the constructor of a method's class has such parameters, the object is an argument too.

    Args:
        function: the function.
        routine: its definition.
        contents: the contents to send to services.
        folder: the folder for files that the function opens.

    Returns:
        Dictionaries of arguments by name, those with the likeliest forms first.

    Raises:
        CannotCallError: if the function cannot be called from outside.
    """
    if routine.name == MAIN:
        if all(call.call_path for call in function.calls):
            raise CannotCallError(ONLY_CALLS_FUNCTIONS)
        return [{_ARGV: form} for form in _argv_forms(function, contents, folder)]
    if "<locals>" in routine.name:
        msg = "is nested in another function"
        raise CannotCallError(msg)
    use, constructor_use = _parameter_uses(function)
    request_arguments = _request_arguments(routine, _request_content(use, contents, folder))
    forms = {
        parameter.arg: list(
            _forms_or_guess(parameter, routine, use, contents, folder)
            if _reads_parameter(parameter, routine)
            else [{"value": None}]
        )
        for parameter in _parameters_to_fill(routine, use)
        if parameter.arg not in request_arguments
    }
    constructor = routine.constructor
    required = (
        _required_parameters(constructor, constructor_use, is_bound=True)
        if constructor is not None
        else []
    )
    constructor_forms = {
        parameter.arg: list(
            _forms_or_nothing(parameter, constructor_use, contents, folder / "made")
        )
        for parameter in required
    }
    forms |= request_arguments
    if _reads_command_line(routine):
        forms[_ARGV] = _argv_forms(function, contents, folder)
    if _reads_terminal(routine):
        kind = use.kind()
        text = contents[kind].decode() if kind is MediaKind.TEXT else ""
        forms[_INPUT] = [{_INPUT: text or str(content_file(kind, contents[kind], folder))}]
    if constructor_forms:
        class_name = routine.name.rpartition(".")[0]
        objects = [
            {"object": {"of": class_name, "named": named}}
            for named in _aligned_arguments(constructor_forms)
        ]
        forms = {routine.receiver or "self": objects, **forms}
    return _aligned_arguments(forms)


def _argv_forms(function: ServiceFunction, contents: Contents, folder: Path) -> list[Json]:
    """Return the forms of an argument on the command line: a file with content, and a folder."""
    kind = media_kind(function.calls[0].answer.operation.task)
    files = content_file(kind, contents[kind], folder / "argv").parent
    return [{"argv": str(content_file(kind, contents[kind], folder))}, {"argv": str(files)}]


def _request_arguments(routine: Routine, content: RequestContent) -> dict[str, list[Json]]:
    """Return the forms of the web request or event that a function handles, by parameter."""
    arguments = {}
    if routine.request:
        arguments[REQUEST] = list(web_requests(routine, content))
    if routine.event:
        arguments[EVENT] = list(events(routine.event, content))
        if routine.parameters()[1:2] == ("context",):
            arguments["context"] = [{"invocation": "1"}]
    return arguments


def _request_content(use: _ParameterUse, contents: Contents, folder: Path) -> RequestContent:
    """Return the content that a client sends in a request to a function."""
    kind = use.kind()
    file = content_file(kind, contents[kind], folder)
    (upload, *_) = upload_forms(file)
    return RequestContent(kind, contents[kind], str(file), upload, use.field)


def _aligned_arguments(forms: Mapping[str, Sequence[Json]]) -> list[dict[str, Json]]:
    """Return arguments: all in their first form, then all in their second form, and so on."""
    length = max(map(len, forms.values()), default=1)
    return [
        {name: options[min(index, len(options) - 1)] for name, options in forms.items()}
        for index in range(length)
    ]


@dataclass(frozen=True, slots=True)
class _ParameterUse:
    """The service calls of a function, with the parameters that reach each call."""

    calls: tuple[tuple[Operation, ServiceCallInputs], ...]

    def input_parameters(self) -> frozenset[str]:
        """Return the parameters that reach the input of a service."""
        return frozenset(name for _, inputs in self.calls for name, _ in inputs.inputs) - {EVENT}

    def operations_with_input(self, name: str) -> list[tuple[Operation, str]]:
        """Return the operations that get a parameter as input, with the joined steps on the way."""
        return [
            (operation, " ".join(steps))
            for operation, inputs in self.calls
            for parameter, steps in inputs.inputs
            if parameter == name
        ]

    def client_operation(self, name: str) -> Operation | None:
        """Return the operation whose client a parameter holds; None if it holds no client."""
        return next((operation for operation, inputs in self.calls if name in inputs.clients), None)

    def kind(self) -> MediaKind:
        """Return the kind of content of the first call."""
        return media_kind(self.calls[0][0].task)

    def provider(self) -> str:
        """Return the provider of the first call."""
        return self.calls[0][0].provider

    def field(self, name: str) -> Json:
        """Return a value for a field of a request that is a setting; None for any other field."""
        value = self.setting(name, "")
        return value if value is not None else location_value(name) or None

    def setting(self, name: str, annotation: str) -> Json:
        """Return a value for a parameter that is a setting; None for any other parameter."""
        max_score = next(
            (operation.between[1] for operation, _ in self.calls if operation.between), 1.0
        )
        return setting_value(
            name, annotation, max_score=max_score, is_speech=self.kind() is MediaKind.SOUND
        )


def _parameter_uses(function: ServiceFunction) -> tuple[_ParameterUse, _ParameterUse]:
    """Return the uses of a function's parameters, and of its constructor's parameters."""
    function_use = tuple((call.answer.operation, call.call_inputs) for call in function.calls)
    return _ParameterUse(function_use), _ParameterUse(
        tuple((call.answer.operation, call.constructor_inputs) for call in function.calls)
    )


def input_parameters(function: ServiceFunction) -> frozenset[str]:
    """Return the parameters of a function and its constructor that reach a service's input."""
    return frozenset(name for use in _parameter_uses(function) for name in use.input_parameters())


def has_input_parameter(function: ServiceFunction, routine: Routine) -> bool:
    """Return whether a caller may pass a service's input to a function.

    The input may be in a parameter, a web request, an event or the command line.
    """
    function_use, _ = _parameter_uses(function)
    is_given = bool(input_parameters(function)) or any(
        map(_is_file, _parameters_to_fill(routine, function_use))
    )
    is_given |= bool(routine.request or routine.event)
    return is_given or _reads_command_line(routine) or _reads_terminal(routine)


def _reads_command_line(routine: Routine) -> bool:
    """Return whether a program reads its command line."""
    nodes = (node for statement in routine.body for node in ast.walk(statement))
    names = (node.attr if isinstance(node, ast.Attribute) else "" for node in nodes)
    return not {"argv", "ArgumentParser"}.isdisjoint(names)


def _reads_terminal(routine: Routine) -> bool:
    """Return whether a function asks the user for a text."""
    nodes = (node for statement in routine.body for node in ast.walk(statement))
    called = (node.func for node in nodes if isinstance(node, ast.Call))
    return any(isinstance(function, ast.Name) and function.id == "input" for function in called)


def _is_file(parameter: ast.arg) -> bool:
    """Return whether a parameter is a file, by its name and annotation."""
    return bool(_FILE_NAME.search(parameter.arg)) and _annotation(parameter) in {"", "str"}


def _annotation(parameter: ast.arg) -> str:
    text = "" if parameter.annotation is None else ast.unparse(parameter.annotation)
    text = text.strip("'\"").removesuffix(" | None")
    optional = _OPTIONAL.fullmatch(text)
    return optional["item"] if optional else text


def _reads_parameter(parameter: ast.arg, routine: Routine) -> bool:
    """Return whether a function reads a parameter; a handler's unused `context` may be None."""
    nodes = (node for statement in routine.body for node in ast.walk(statement))
    return any(isinstance(node, ast.Name) and node.id == parameter.arg for node in nodes)


def _parameters_to_fill(routine: Routine, use: _ParameterUse) -> list[ast.arg]:
    """Return the parameters without a default, and those that reach a service's input."""
    return _required_parameters(routine.arguments, use, is_bound=routine.is_bound)


def _required_parameters(
    arguments: ast.arguments, use: _ParameterUse, *, is_bound: bool
) -> list[ast.arg]:
    inputs = use.input_parameters()
    positional = [*arguments.posonlyargs, *arguments.args]
    first_with_default = len(positional) - len(arguments.defaults)
    required = [
        parameter
        for index, parameter in enumerate(positional)
        if index >= is_bound and (index < first_with_default or parameter.arg in inputs)
    ]
    pairs = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    return required + [
        parameter for parameter, default in pairs if default is None or parameter.arg in inputs
    ]


def _forms(
    parameter: ast.arg, use: _ParameterUse, contents: Contents, folder: Path
) -> Iterator[Json]:
    annotation = _annotation(parameter)
    collection = _COLLECTION.fullmatch(annotation)
    item_type = collection["item"] if collection else annotation
    forms = list(_item_forms(parameter, item_type, use, contents, folder))
    listed = [{"several": [form]} for form in forms]
    if collection is not None or _is_iterated(parameter, use):
        yield from listed
        return
    yield from forms
    if not annotation and _may_be_list(parameter, use):
        yield from listed


def _forms_or_guess(
    parameter: ast.arg, routine: Routine, use: _ParameterUse, contents: Contents, folder: Path
) -> Iterator[Json]:
    """Yield the forms of a parameter; what its function reads from it if its type is unknown."""
    keys = keys_read(parameter.arg, routine.body)
    is_dictionary = bool(keys) and bool(_DICTIONARY.fullmatch(_annotation(parameter)))
    if is_dictionary and use.operations_with_input(parameter.arg):
        yield from _dictionary_forms(parameter.arg, keys, use, contents, folder)
        return
    try:
        yield from _forms(parameter, use, contents, folder)
    except CannotCallError:
        if _annotation(parameter):  # an object of a class, which a guess would not be
            yield {"stub": parameter.arg}
        else:
            yield form_by_reads(
                parameter.arg, routine.body, lambda key: text_form(key, use.provider())
            )


def _dictionary_forms(
    name: str, keys: Sequence[str], use: _ParameterUse, contents: Contents, folder: Path
) -> Iterator[Json]:
    """Yield dictionaries with the input of a service under each key that is no setting."""
    (operation, steps), *_ = use.operations_with_input(name)
    forms = {
        key: [{"guess": value}]
        if (value := use.setting(key, "")) is not None
        else list(service_input_forms(key, "", operation, steps, contents, folder))
        for key in keys
    }
    for fields in _aligned_arguments(forms):
        yield {"fields": fields}


def _forms_or_nothing(
    parameter: ast.arg, use: _ParameterUse, contents: Contents, folder: Path
) -> Iterator[Json]:
    """Yield the forms of a constructor's parameter; None if its type is unknown."""
    try:
        yield from _forms(parameter, use, contents, folder)
    except CannotCallError:
        yield {"guess": None}


def _is_iterated(parameter: ast.arg, use: _ParameterUse) -> bool:
    """Return whether services get only items of a parameter, never the whole."""
    operations = use.operations_with_input(parameter.arg)
    return bool(operations) and all(steps.split(" ")[0] == EACH for _, steps in operations)


def _may_be_list(parameter: ast.arg, use: _ParameterUse) -> bool:
    """Return whether a parameter is passed unchanged to an operation that takes several texts."""
    return any(
        not steps and (operation.is_per_document or operation.name.startswith("batch_"))
        for operation, steps in use.operations_with_input(parameter.arg)
    )


def _item_forms(
    parameter: ast.arg, annotation: str, use: _ParameterUse, contents: Contents, folder: Path
) -> Iterator[Json]:
    name = parameter.arg
    operations = use.operations_with_input(name)
    client = use.client_operation(name)
    if client is not None:
        yield {"client": {"provider": client.provider, "name": client.client}}
    elif (value := use.setting(name, annotation)) is not None:
        yield {"value" if annotation else "guess": value}
    elif annotation in _NUMBER_TYPES:
        yield {"value": _VALUES_BY_TYPE[annotation]}
    elif operations:
        yield from service_input_forms(name, annotation, *operations[0], contents, folder)
    elif _is_file(parameter):
        kind = use.kind()
        file = content_file(kind, contents[kind], folder)
        yield {"value": str(file)}
        yield from stored_forms(use.calls[0][0], file)
    elif annotation == "bytes":
        yield bytes_form(contents[MediaKind.IMAGE])
    else:
        yield _plain_form(name, annotation, use, folder)


def _plain_form(name: str, annotation: str, use: _ParameterUse, folder: Path) -> Json:
    """Return the form of a parameter that reaches no service, by its name and annotation."""
    text = text_form(name, use.provider()) if annotation in {"", "str"} else None
    if annotation in PATH_TYPES:
        folder.mkdir(exist_ok=True, parents=True)
        return {"path": str(folder if FOLDER.search(name) else folder / name)}
    if text is not None:
        return text
    if annotation in _VALUES_BY_TYPE:
        return {"value": _VALUES_BY_TYPE[annotation]}
    msg = f"the type of parameter `{name}` is unknown; annotate the parameter or give a default"
    raise CannotCallError(msg)
