"""A finding of an application as a script that calls its function with the answers that matter.

It runs in the folder that the application was tested in, as the campaign did, and asks nobody.
"""

from __future__ import annotations

import pprint
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from ciguard.domain.outcomes import Crashed, Hung
from ciguard.levels.app.providers.registered import outside_hooks
from ciguard.writing import scalar

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ciguard.domain.app_runs import AppCase
    from ciguard.domain.outcomes import Outcome
    from ciguard.domain.values import Json

_FOLDER = "{folder}"
_WIDTH = 92
_PROGRAM = "<module>"
"""Names what a file does itself."""


def app_statements(case: AppCase, outcome: Outcome | None) -> tuple[list[str], list[str]]:
    """Return the imports, and the statements that make the call.

    Args:
        case: with the call.
        outcome: that it had.

    Raises:
        ValueError: if the case is about no call.
    """
    call = case.call
    if call is None:
        msg = f"{case.api}: no call shows it"
        raise ValueError(msg)
    files, providers = call["files"], call.get("providers", ["google"])
    file = PurePosixPath(case.api.partition(":")[0]).relative_to(case.root)
    called = list(_called(call, file.as_posix(), outcome))
    answers = pprint.pformat(call["answers"], width=_WIDTH, sort_dicts=False)
    written = "\n".join(called)
    imports = ["import base64"] if files or "b64decode(" in written else []
    imports += ["import os", "import sys"]
    imports += ["import tempfile"] if files else []
    imports += ["from contextlib import suppress"]
    imports += ["from pathlib import Path"] if files or "Path(" in written else []
    imports += ["import faulthandler"] if isinstance(outcome, Hung) else []
    statements = [
        f"from ciguard.levels.app.in_target.explorer import finished, {_getter(call)}",
        f"from ciguard.levels.app.in_target.given import {', '.join(_needed(written))}",
        *_loading(providers),
        "",
        "# What the services answer; no service is asked.",
        f"ANSWERS = {answers}",
        f"for provider in {providers!r}:",
        "    with suppress(ImportError):  # who is not here asks nothing",
        '        CLIENTS[provider].intercept(lambda name, _: ANSWERS.get(name, {"answer": {}}))',
        "",
        *_files(files),
        f"os.chdir({scalar(case.root)})",
        *(f"sys.path.insert(0, {scalar(one)})" for one in _beside(file)),
        "sys.path.insert(0, os.getcwd())",
        *called,
        'print("The defect did not show.")',
    ]
    return sorted(dict.fromkeys(imports), key=_import_order), statements


def _beside(file: PurePosixPath) -> list[str]:
    """Return the folder that a script in it finds others in, if that is not the application's."""
    return [] if file.parent == PurePosixPath() else [file.parent.as_posix()]


def _loading(providers: Sequence[str]) -> list[str]:
    """Return what loads the hooks of providers that other packages add."""
    hooks = outside_hooks(providers).items()
    loading = [f"load({scalar(provider)}, {scalar(hook)})" for provider, hook in hooks]
    imports = ["from ciguard.levels.app.in_target.hooks import load", ""]
    return [*imports, *loading] if loading else []


def _getter(call: Json) -> str:
    return "program_of" if call["function"] == _PROGRAM else "function_of"


def _needed(written: str) -> list[str]:
    """Return the names that a call takes of what makes its arguments."""
    optional = ("Awaited", "Invocation", "Upload", "answering", "stored")
    return ["CLIENTS", *(name for name in optional if f"{name}(" in written)]


def _called(call: Json, file: str, outcome: Outcome | None) -> Iterator[str]:
    """Yield what gets the function, of the object that it is a method of, and calls it."""
    module, name = scalar(call["module"]), call["function"]
    arguments = dict(call["arguments"])
    made = [key for key, one in arguments.items() if "object" in one]
    for key in made:
        one = arguments.pop(key)["object"]
        named = ", ".join(f"{field}={_argument(it)}" for field, it in one["named"].items())
        yield f"made = function_of({module}, {scalar(one['of'])})({named})"
        yield f"function = getattr(made, {scalar(name.rpartition('.')[2])})"
    for key in [key for key, one in arguments.items() if "argv" in one]:
        argument = _text(arguments.pop(key)["argv"])
        yield f"sys.argv = [{scalar(file)}, {argument}]"
    if name == _PROGRAM:
        yield f"function = program_of({scalar(file)})"
    elif not made:
        yield f"function = function_of({module}, {scalar(name)})"
    positional = call.get("positional", ())
    for key in [key for key, one in arguments.items() if "request" in one]:
        request = arguments.pop(key)["request"]
        parts = f"{{{', '.join(map(_part, request['parts'].items()))}}}"
        yield f"function = answering(function, {parts}, is_passed={request['is_passed']})"
        positional = () if key in positional else positional
    yield from _before(outcome)
    texts = [_argument(arguments[key]) for key in positional]
    texts += [f"{key}={_argument(it)}" for key, it in arguments.items() if key not in positional]
    yield f"finished(function({', '.join(texts)}))"


def _before(outcome: Outcome | None) -> Iterator[str]:
    """Yield what shows where a call is that does not return."""
    if isinstance(outcome, Hung):
        yield "# It does not return: after so many seconds this says where it is, and ends."
        yield f"faulthandler.dump_traceback_later({outcome.limit_s:g}, exit=True)"
    if isinstance(outcome, Crashed):
        yield 'print("Called; if nothing follows, it has ended its process.", flush=True)'


def _import_order(line: str) -> tuple[bool, str]:
    return line.startswith("from"), line


def _files(files: Mapping[str, str]) -> Iterator[str]:
    if not files:
        return
    yield "folder = tempfile.mkdtemp()"
    for name, data in files.items():
        parts = name.split("/")
        if len(parts) > 1:
            parent = scalar("/".join(parts[:-1]))
            yield f"(Path(folder) / {parent}).mkdir(parents=True, exist_ok=True)"
        yield f"(Path(folder) / {scalar(name)}).write_bytes(base64.b64decode({scalar(data)}))"


def _argument(given: Json) -> str:
    """Return the source of an argument as `in_target` takes it."""
    ((form, value),) = given.items()
    match form:
        case "several":
            written = ", ".join(map(_argument, value))
            source = f"[{written}]"
        case "fields":
            written = ", ".join(f"{scalar(str(k))}: {_argument(one)}" for k, one in value.items())
            source = f"{{{written}}}"
        case "path":
            source = f"Path({_text(value)})"
        case "base64":
            source = f"base64.b64decode({scalar(str(value))})"
        case "upload":
            kind = "Awaited" if value["is_awaited"] else "Upload"
            content = _argument({"base64": value["base64"]})
            source = f"{kind}({content}, {scalar(value['name'])})"
        case "invocation":
            source = f"Invocation({scalar(value)})"
        case "stored":
            content = _argument({"base64": value["base64"]})
            source = f"stored({scalar(value['name'])}, {content})"
        case "client":
            source = f"CLIENTS[{scalar(value['provider'])}].client({scalar(value['name'])})"
        case _:
            source = _plain(value)
    return source


def _part(part: tuple[str, Json]) -> str:
    """Return the source of a part of a request, and of its fields."""
    name, fields = part
    return f"{scalar(name)}: {_argument({'fields': fields})}"


def _plain(value: Json) -> str:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, list):
        return f"[{', '.join(map(_plain, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{scalar(str(k))}: {_plain(v)}' for k, v in value.items())}}}"
    return scalar(value)


def _text(value: str) -> str:
    if not value.startswith(_FOLDER):
        return scalar(value)
    rest = value.removeprefix(_FOLDER)
    return f"folder + {scalar(rest)}" if rest else "folder"
