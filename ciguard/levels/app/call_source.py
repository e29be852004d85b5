"""Source of reproducer scripts that call an application's function with stub responses.

Scripts run in the folder in which the campaign ran, and call no service.
"""

from __future__ import annotations

import pprint
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from ciguard.domain.outcomes import Crashed, Hung
from ciguard.levels.app.providers.registered import hooks_of_other_packages
from ciguard.writing import scalar

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ciguard.domain.app_runs import AppCase
    from ciguard.domain.outcomes import Outcome
    from ciguard.domain.values import Json

_FOLDER = "{folder}"
_WIDTH = 92
_PROGRAM = "<module>"
"""Name of a file's top-level code as a function."""


def app_statements(case: AppCase, outcome: Outcome | None) -> tuple[list[str], list[str]]:
    """Return the import lines of a script, and the statements that make the call.

    Args:
        case: the case with the call.
        outcome: the outcome of the call in the campaign; None if unknown.

    Raises:
        ValueError: if the case has no call.
    """
    call = case.call
    if call is None:
        msg = f"{case.api}: this case is not a call of a function, so no script can repeat it"
        raise ValueError(msg)
    files, providers = call["files"], call.get("providers", ["google"])
    file = PurePosixPath(case.api.partition(":")[0]).relative_to(case.root)
    call_lines = list(_call_statements(call, file.as_posix(), outcome))
    answers = pprint.pformat(call["answers"], width=_WIDTH, sort_dicts=False)
    call_text = "\n".join(call_lines)
    imports = ["import base64"] if files or "b64decode(" in call_text else []
    imports += ["import builtins"] if "builtins." in call_text else []
    imports += ["import os", "import sys"]
    imports += ["import atexit", "import shutil", "import tempfile"] if files else []
    imports += ["from contextlib import suppress"]
    imports += ["from pathlib import Path"] if files or "Path(" in call_text else []
    imports += ["import faulthandler"] if isinstance(outcome, Hung) else []
    statements = [
        f"from ciguard.levels.app.in_target.explorer import finished, {_getter(call)}",
        f"from ciguard.levels.app.in_target.given import {', '.join(_needed_names(call_text))}",
        *_hook_statements(providers),
        "",
        "# Stub responses of the services; no service is called.",
        f"ANSWERS = {answers}",
        f"for provider in {providers!r}:",
        "    with suppress(ImportError):  # a client that is not installed",
        '        CLIENTS[provider].intercept(lambda name, _: ANSWERS.get(name, {"answer": {}}))',
        "",
        *_file_statements(files),
        f"os.chdir({scalar(case.root)})",
        *(f"sys.path.insert(0, {scalar(folder)})" for folder in _script_folder(file)),
        "sys.path.insert(0, os.getcwd())",
        *call_lines,
        'print("The defect did not show.")',
    ]
    return sorted(dict.fromkeys(imports), key=_import_order), statements


def _script_folder(file: PurePosixPath) -> list[str]:
    """Return the folder of a file that Python would put on its path; none for the root."""
    return [] if file.parent == PurePosixPath() else [file.parent.as_posix()]


def _hook_statements(providers: Sequence[str]) -> list[str]:
    """Return the statements that load the hooks of providers from other packages."""
    hooks = hooks_of_other_packages(providers).items()
    statements = [f"load({scalar(provider)}, {scalar(hook)})" for provider, hook in hooks]
    imports = ["from ciguard.levels.app.in_target.hooks import load", ""]
    return [*imports, *statements] if statements else []


def _getter(call: Json) -> str:
    """Return the function of `in_target.explorer` that gets the callable."""
    return "program_of" if call["function"] == _PROGRAM else "function_of"


def _needed_names(call_text: str) -> list[str]:
    """Return the names of `in_target.given` that a call uses."""
    optional = ("Awaited", "Invocation", "Upload", "answering", "stored")
    return ["CLIENTS", *(name for name in optional if f"{name}(" in call_text)]


def _call_statements(call: Json, file: str, outcome: Outcome | None) -> Iterator[str]:
    """Yield the statements that get the function or method and call it."""
    module, name = scalar(call["module"]), call["function"]
    arguments = dict(call["arguments"])
    object_parameters = [key for key, form in arguments.items() if "object" in form]
    for key in object_parameters:
        creation = arguments.pop(key)["object"]
        named = ", ".join(f"{field}={_argument(form)}" for field, form in creation["named"].items())
        yield f"instance = function_of({module}, {scalar(creation['of'])})({named})"
        yield f"function = getattr(instance, {scalar(name.rpartition('.')[2])})"
    for key in [key for key, form in arguments.items() if "argv" in form]:
        argument = _string(arguments.pop(key)["argv"])
        yield f"sys.argv = [{scalar(file)}, {argument}]"
    for key in [key for key, form in arguments.items() if "input" in form]:
        yield f"builtins.input = lambda *_: {_string(arguments.pop(key)['input'])}"
    if name == _PROGRAM:
        yield f"function = program_of({scalar(file)})"
    elif not object_parameters:
        yield f"function = function_of({module}, {scalar(name)})"
    positional = call.get("positional", ())
    for key in [key for key, form in arguments.items() if "request" in form]:
        request = arguments.pop(key)["request"]
        parts = f"{{{', '.join(map(_request_part, request['parts'].items()))}}}"
        yield f"function = answering(function, {parts}, is_passed={request['is_passed']})"
        positional = () if key in positional else positional
    yield from _hang_statements(outcome)
    texts = [_argument(arguments[key]) for key in positional]
    texts += [
        f"{key}={_argument(form)}" for key, form in arguments.items() if key not in positional
    ]
    yield f"finished(function({', '.join(texts)}))"


def _hang_statements(outcome: Outcome | None) -> Iterator[str]:
    """Yield statements by which the script shows that the call hangs or ends its process."""
    if isinstance(outcome, Hung):
        yield "# The call hangs: after the timeout, the script prints a traceback and exits."
        yield f"faulthandler.dump_traceback_later({outcome.limit_s:g}, exit=True)"
    if isinstance(outcome, Crashed):
        yield 'print("Calling. If no output follows, the call has ended the process.", flush=True)'


def _import_order(line: str) -> tuple[bool, str]:
    return line.startswith("from"), line


def _file_statements(files: Mapping[str, str]) -> Iterator[str]:
    if not files:
        return
    yield "folder = tempfile.mkdtemp()"
    yield "atexit.register(shutil.rmtree, folder, ignore_errors=True)"
    for name, data in files.items():
        parts = name.split("/")
        if len(parts) > 1:
            parent = scalar("/".join(parts[:-1]))
            yield f"(Path(folder) / {parent}).mkdir(parents=True, exist_ok=True)"
        yield f"(Path(folder) / {scalar(name)}).write_bytes(base64.b64decode({scalar(data)}))"


def _argument(argument: Json) -> str:
    """Return the Python source of an argument, from its form as in `arguments_for`."""
    ((form, value),) = argument.items()
    match form:
        case "several":
            items = ", ".join(map(_argument, value))
            source = f"[{items}]"
        case "fields":
            items = ", ".join(f"{scalar(str(k))}: {_argument(item)}" for k, item in value.items())
            source = f"{{{items}}}"
        case "path":
            source = f"Path({_string(value)})"
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
            source = _literal(value)
    return source


def _request_part(part: tuple[str, Json]) -> str:
    """Return the Python source of a request's part, as an item of a dictionary."""
    name, fields = part
    return f"{scalar(name)}: {_argument({'fields': fields})}"


def _literal(value: Json) -> str:
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, list):
        return f"[{', '.join(map(_literal, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{scalar(str(k))}: {_literal(v)}' for k, v in value.items())}}}"
    return scalar(value)


def _string(value: str) -> str:
    if not value.startswith(_FOLDER):
        return scalar(value)
    rest = value.removeprefix(_FOLDER)
    return f"folder + {scalar(rest)}" if rest else "folder"
