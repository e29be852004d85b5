"""Entry point of a target's process: `python -Ss bootstrap.py SETTINGS CONTROL-FD`.

SETTINGS is a JSON object, or `@` and the path of a file that holds one. Its keys select the mode:

- `case` names a file with one case, which runs under a debugger, without a control descriptor.
- `entry` names a module of any package, which runs instead of the fork server. With `held`, which
  lists the files that the module may access, the process is confined first.
- Otherwise the fork server runs; with `counted_by`, the server of `counting`, under that command.

The bootstrap makes `ciguard.execution.worker`, `ciguard.libraries` and the packages around the
entry importable without running any `__init__`, because these import what a target lacks.
"""

from __future__ import annotations

import functools
import importlib
import json
import os
import site
import socket
import sys
import types
from typing import Any, NoReturn

_PACKAGES = ("execution", "libraries", "domain", "functions")
_IN_TARGET = "in_target"
_CASE_SCRIPT = "case.py"
_PLAIN_PACKAGES = ("ciguard", *(f"ciguard.{package}" for package in _PACKAGES))


def open_packages(root: str, entry: str = "") -> None:
    """Register packages as plain folders below `root`, so that no `__init__` runs.

    These are `_PLAIN_PACKAGES` and the packages around the entry's `in_target` folder.
    """
    for name in (*_PLAIN_PACKAGES, *_packages_around(entry)):
        package = types.ModuleType(name)
        package.__path__ = [os.path.join(root, *name.split("."))]
        sys.modules[name] = package


def _packages_around(entry: str) -> list[str]:
    """Return the packages of ciguard whose folder `in_target` contains the entry."""
    names = entry.split(".")
    if names[0] != "ciguard" or _IN_TARGET not in names:
        return []
    return [".".join(names[:end]) for end in range(2, names.index(_IN_TARGET) + 1)]


def _settings(argument: str) -> Any:
    if not argument.startswith("@"):
        return json.loads(argument)
    with open(argument[1:], encoding="utf-8") as file:
        return json.load(file)


def main() -> None:
    """Run the fork server, another module, or one case under a debugger."""
    settings = _settings(sys.argv[1])
    # Python puts a script's folder first, but modules here share names with others.
    script_folder = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [path for path in sys.path if os.path.abspath(path) != script_folder]
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(__file__))))
    open_packages(root, settings.get("entry", ""))
    from ciguard.execution.worker import privileges

    if "case" not in settings and "entry" not in settings:
        _serve(settings, int(sys.argv[2]), sys.argv[3:])
        return
    if settings.get("held"):
        _run_entry_confined(settings, int(sys.argv[2]), sys.argv[3:])
        return
    privileges.exit_with_parent()
    if "case" in settings:
        _run_under_tool(settings)
        return
    importlib.import_module(settings["entry"]).run(settings, int(sys.argv[2]))


def _run_under_tool(settings: Any) -> None:
    """Run one case under a debugger, which replaces this process, or under the tool around it.

    No code of the target's environment runs before the process is confined.
    """
    from ciguard.execution.worker import confine

    if settings["debugger"] or settings["holds_itself"]:
        confine.restrict_files(settings)
    if settings["debugger"]:
        _execute_debugger(settings)
    if settings["holds_itself"]:
        site.main()  # as the interpreter was started with `-S`
    if settings["device"] != "cpu":
        confine.isolate_worker(settings, settings["scratch"])
    from ciguard.execution.worker import debugged

    debugged.run(settings)


def _execute_debugger(settings: Any) -> NoReturn:
    """Replace this process by the debugger, whose child runs the case."""
    os.chdir(settings["scratch"])
    arguments = [sys.argv[0], json.dumps({**settings, "debugger": []})]
    with open(_CASE_SCRIPT, "w", encoding="utf-8") as file:
        file.write(f"import runpy, sys\nsys.argv = {arguments!r}\n")
        file.write("runpy.run_path(sys.argv[0], run_name='__main__')\n")
    # Without a shell, gdb splits arguments at spaces: none of these contains a space.
    command = [sys.executable, "-s", _CASE_SCRIPT]
    debugger = settings["debugger"]
    os.execv(debugger[0], [*debugger, *command])  # noqa: S606 - no shell is wanted


def _confine_and_restart(settings: Any, descriptor: int, options: list[str]) -> NoReturn:
    """Confine this process, and restart the interpreter with these options.

    Only the second interpreter runs the startup code of the target's environment (`.pth` files and
    `sitecustomize`), which a wheel under test may have installed.
    """
    from ciguard.execution.worker import (
        confine,
        privileges,
        reaper,
        strays,
    )

    check_strays = functools.partial(strays.kill_excessive_strays, settings["writable"])
    confined_by = ["reaper"] if reaper.fork_below(descriptor, check_strays) else []
    privileges.exit_with_parent()
    confined_by += confine.confine_import(settings)
    around = settings.get("counted_by", ())
    command = [*around, sys.executable, *options, *sys.argv, json.dumps(confined_by)]
    os.execv(command[0], command)  # noqa: S606 - no shell is wanted


def _run_entry_confined(settings: Any, descriptor: int, confined_by: list[str]) -> None:
    """Run the module that the settings name, confined."""
    from ciguard.execution.worker import confine, limits

    if not confined_by:
        _confine_and_restart(settings["held"], descriptor, ["-u"])
    limits.limit_output(settings["held"]["output_mib"])
    confine.restrict_system_calls(confine.role_of(settings["held"]))
    settings["confined_by"] = json.loads(confined_by[0])
    importlib.import_module(settings["entry"]).run(settings, descriptor)


def _serve(settings: Any, descriptor: int, confined_by: list[str]) -> None:
    """Run the fork server, confined."""
    if not confined_by:
        _confine_and_restart(settings, descriptor, ["-s"])
    with socket.socket(fileno=descriptor) as control:
        _server(settings)(settings, control, json.loads(confined_by[0])).serve()


def _server(settings: Any) -> Any:
    """Return the class of the server: a fork server, or one that counts instructions."""
    if settings.get("counted_by"):
        from ciguard.execution.worker.counting import CountingServer

        return CountingServer
    from ciguard.execution.worker.server import Server

    return Server


if __name__ == "__main__":
    main()
