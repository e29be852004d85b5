"""What a function is called with, so that it gets as far as the service it asks."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.levels.app.exploration.by_name import place, setting, text_form
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
from ciguard.levels.app.exploration.requests import Sent, events, web_requests
from ciguard.levels.app.providers.description import MediaKind, kind_of
from ciguard.levels.app.static_analysis.application import MAIN
from ciguard.levels.app.static_analysis.requested import EVENT, PASSED
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
_SEVERAL = re.compile(
    r"(?:\w+\.)*(?:list|List|tuple|Tuple|set|Set|Sequence|Iterable|Iterator|Collection)"
    r"\[(?P<of>[\w.]+)(?:, \.\.\.)?\]"
)
_OPTIONAL = re.compile(r"(?:\w+\.)*Optional\[(?P<of>.*)\]")
_BY_TYPE: dict[str, Json] = {"str": PLAIN_TEXT, "int": 1, "float": 1.0, "bool": False}
_ARGV = "argv"
_NUMBERS = frozenset({"int", "float", "bool"})
"""Types that no content has."""


class CannotCallError(Exception):
    """A function that cannot be called alone, and why."""


def arguments_for(
    found: ServiceFunction, routine: Routine, contents: Contents, folder: Path
) -> list[dict[str, Json]]:
    """Return an argument for each parameter that has no default, in all forms that it may take.

    A method's object is among them if its constructor has such parameters, too.

    Args:
        found: the function.
        routine: its definition.
        contents: what services are to be asked about.
        folder: for files that it opens.

    Returns:
        Arguments by name: the likeliest form of what services are asked about first.

    Raises:
        CannotCallError: if it cannot be called from outside.
    """
    if routine.name == MAIN:
        if all(call.through for call in found.calls):
            msg = "what a file does itself is only to call functions that are explored as such"
            raise CannotCallError(msg)
        return [{_ARGV: _argv(found, contents, folder)}]
    if "<locals>" in routine.name:
        msg = "stands in another function"
        raise CannotCallError(msg)
    own, making = _uses(found)
    handed = _handed(routine, _sent(own, contents, folder))
    forms = {
        parameter.arg: list(
            _forms(parameter, own, contents, folder)
            if _is_read(parameter, routine)
            else [{"value": None}]
        )
        for parameter in _given(routine, own)
        if parameter.arg not in handed
    }
    constructor = routine.constructor
    needed = _needed(constructor, making, is_bound=True) if constructor is not None else []
    made = {
        parameter.arg: list(_forms_or_nothing(parameter, making, contents, folder / "made"))
        for parameter in needed
    }
    forms |= handed
    if _reads_arguments(routine):
        forms[_ARGV] = [_argv(found, contents, folder)]
    if made:
        of = routine.name.rpartition(".")[0]
        objects = [{"object": {"of": of, "named": named}} for named in _side_by_side(made)]
        forms = {routine.receiver or "self": objects, **forms}
    return _side_by_side(forms)


def _argv(found: ServiceFunction, contents: Contents, folder: Path) -> Json:
    """Return the form of what a program is started with: a path."""
    kind = kind_of(found.calls[0].answer.operation.task)
    return {"argv": str(content_file(kind, contents[kind], folder))}


def _handed(routine: Routine, sent: Sent) -> dict[str, list[Json]]:
    """Return the requests and events that a function answers, under the names of parameters."""
    handed = {}
    if routine.request:
        handed[PASSED] = list(web_requests(routine, sent))
    if routine.event:
        handed[EVENT] = list(events(routine.event, sent))
        if routine.parameters()[1:2] == ("context",):
            handed["context"] = [{"invocation": "1"}]
    return handed


def _sent(use: _Use, contents: Contents, folder: Path) -> Sent:
    """Return what is sent to a function that answers requests."""
    kind = use.kind()
    file = content_file(kind, contents[kind], folder)
    (upload, *_) = upload_forms(file)
    return Sent(kind, contents[kind], str(file), upload, use.field)


def _side_by_side(forms: Mapping[str, Sequence[Json]]) -> list[dict[str, Json]]:
    """Return arguments, all in their first forms, their second ones and so on."""
    longest = max(map(len, forms.values()), default=1)
    return [
        {name: given[min(at, len(given) - 1)] for name, given in forms.items()}
        for at in range(longest)
    ]


@dataclass(frozen=True, slots=True)
class _Use:
    """What services are asked with the parameters of one function."""

    calls: tuple[tuple[Operation, ServiceCallInputs], ...]

    def about(self) -> frozenset[str]:
        """Return the parameters that services are asked about."""
        return frozenset(name for _, given in self.calls for name, _ in given.inputs) - {EVENT}

    def asking(self, name: str) -> list[tuple[Operation, str]]:
        """Return what is asked about a parameter, and what is done to it before, in words."""
        return [
            (operation, " ".join(steps))
            for operation, given in self.calls
            for one, steps in given.inputs
            if one == name
        ]

    def client(self, name: str) -> Operation | None:
        """Return an operation that a parameter is the client of."""
        return next((one for one, given in self.calls if name in given.clients), None)

    def kind(self) -> MediaKind:
        """Return what services are asked about first."""
        return kind_of(self.calls[0][0].task)

    def provider(self) -> str:
        """Return whose service is asked first."""
        return self.calls[0][0].provider

    def field(self, name: str) -> Json:
        """Return a value for a field of a request that is no content; None for any other."""
        value = self.setting(name, "")
        return value if value is not None else place(name) or None

    def setting(self, name: str, annotation: str) -> Json:
        """Return a value for a parameter that says how services are asked; None for any other."""
        highest = next((one.between[1] for one, _ in self.calls if one.between), 1.0)
        return setting(name, annotation, highest=highest, is_heard=self.kind() is MediaKind.SOUND)


def _uses(found: ServiceFunction) -> tuple[_Use, _Use]:
    """Return the uses of a function's own parameters, and of those that make its object."""
    own = tuple((one.answer.operation, one.called_with) for one in found.calls)
    return _Use(own), _Use(tuple((one.answer.operation, one.made_with) for one in found.calls))


def asked_about(found: ServiceFunction) -> frozenset[str]:
    """Return the parameters that services are asked about, of a function and of its object."""
    return frozenset(name for use in _uses(found) for name in use.about())


def takes_contents(found: ServiceFunction, routine: Routine) -> bool:
    """Return whether a parameter of a function may be what services are asked about."""
    own, _ = _uses(found)
    is_given = bool(asked_about(found)) or any(map(_is_file, _given(routine, own)))
    is_given |= bool(routine.request or routine.event)
    return is_given or _reads_arguments(routine)


def _reads_arguments(routine: Routine) -> bool:
    """Return whether a program looks at what it is started with."""
    nodes = (node for statement in routine.body for node in ast.walk(statement))
    names = (node.attr if isinstance(node, ast.Attribute) else "" for node in nodes)
    return not {"argv", "ArgumentParser"}.isdisjoint(names)


def _is_file(parameter: ast.arg) -> bool:
    """Return whether a parameter nobody knows more of is a file, such as one that is uploaded."""
    return bool(_FILE.search(parameter.arg)) and _annotation(parameter) in {"", "str"}


def _annotation(parameter: ast.arg) -> str:
    written = "" if parameter.annotation is None else ast.unparse(parameter.annotation)
    written = written.strip("'\"").removesuffix(" | None")
    optional = _OPTIONAL.fullmatch(written)
    return optional["of"] if optional else written


def _is_read(parameter: ast.arg, routine: Routine) -> bool:
    """Return whether a function uses a parameter: a handler's `context` may be None."""
    nodes = (node for statement in routine.body for node in ast.walk(statement))
    return any(isinstance(node, ast.Name) and node.id == parameter.arg for node in nodes)


def _given(routine: Routine, use: _Use) -> list[ast.arg]:
    """Return the parameters that are given: those without a default, or asked about."""
    return _needed(routine.arguments, use, is_bound=routine.is_bound)


def _needed(given: ast.arguments, use: _Use, *, is_bound: bool) -> list[ast.arg]:
    about = use.about()
    positional = [*given.posonlyargs, *given.args]
    first = len(positional) - len(given.defaults)
    needed = [
        one
        for at, one in enumerate(positional)
        if at >= is_bound and (at < first or one.arg in about)
    ]
    pairs = zip(given.kwonlyargs, given.kw_defaults, strict=True)
    return needed + [one for one, default in pairs if default is None or one.arg in about]


def _forms(parameter: ast.arg, use: _Use, contents: Contents, folder: Path) -> Iterator[Json]:
    written = _annotation(parameter)
    several = _SEVERAL.fullmatch(written)
    one = several["of"] if several else written
    forms = list(_forms_of_one(parameter, one, use, contents, folder))
    listed = [{"several": [form]} for form in forms]
    if several is not None or _is_gone_over(parameter, use):
        yield from listed
        return
    yield from forms
    if not written and _may_be_list(parameter, use):
        yield from listed


def _forms_or_nothing(
    parameter: ast.arg, use: _Use, contents: Contents, folder: Path
) -> Iterator[Json]:
    """Yield the forms of a constructor's parameter; its object may do without what nobody knows."""
    try:
        yield from _forms(parameter, use, contents, folder)
    except CannotCallError:
        yield {"guess": None}


def _is_gone_over(parameter: ast.arg, use: _Use) -> bool:
    """Return whether services are asked about each item of a parameter, never about the whole."""
    asking = use.asking(parameter.arg)
    return bool(asking) and all(steps.split(" ")[0] == EACH for _, steps in asking)


def _may_be_list(parameter: ast.arg, use: _Use) -> bool:
    """Return whether a parameter goes, as it is or in a list, to what takes a list of texts."""
    return any(
        not steps and (operation.is_per_document or operation.name.startswith("batch_"))
        for operation, steps in use.asking(parameter.arg)
    )


def _forms_of_one(
    parameter: ast.arg, written: str, use: _Use, contents: Contents, folder: Path
) -> Iterator[Json]:
    name = parameter.arg
    asking = use.asking(name)
    client = use.client(name)
    if client is not None:
        yield {"client": {"provider": client.provider, "name": client.client}}
    elif (value := use.setting(name, written)) is not None:
        yield {"value" if written else "guess": value}
    elif written in _NUMBERS:
        yield {"value": _BY_TYPE[written]}
    elif asking:
        yield from asked_about_forms(name, written, *asking[0], contents, folder)
    elif _is_file(parameter):
        kind = use.kind()
        file = content_file(kind, contents[kind], folder)
        yield {"value": str(file)}
        yield from stored_forms(use.calls[0][0], file)
    elif written == "bytes":
        yield bytes_form(contents[MediaKind.IMAGE])
    else:
        yield _plain_form(name, written, use, folder)


def _plain_form(name: str, written: str, use: _Use, folder: Path) -> Json:
    """Return the form of a parameter that no service is asked about, as far as is known."""
    text = text_form(name, use.provider()) if written in {"", "str"} else None
    if written in PATHS:
        folder.mkdir(exist_ok=True, parents=True)
        return {"path": str(folder if FOLDER.search(name) else folder / name)}
    if text is not None:
        return text
    if written in _BY_TYPE:
        return {"value": _BY_TYPE[written]}
    msg = f"nobody says what its parameter `{name}` takes; annotate it, or give it a default"
    raise CannotCallError(msg)
