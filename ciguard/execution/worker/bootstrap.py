"""Entry of a target's process: `python -Ss bootstrap.py SETTINGS CONTROL-FD`.

SETTINGS are JSON, or `@` and the file that holds them.
Settings that name a `case` file run that one case under a debugger instead, without a control.
Settings that name an `entry` hand over to that module, which may belong to another room; those
that say with `held` what it may reach confine it first.

Makes `ciguard.execution.worker`, `ciguard.libraries` and what lies around the entry importable
without running any package's door, because the doors import what a target does not have.
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

_ROOMS = ("execution", "libraries", "domain", "functions")
_IN_TARGET = "in_target"
_DEBUGGED = "case.py"
_DOORLESS = ("ciguard", *(f"ciguard.{room}" for room in _ROOMS))


def open_packages(root: str, entry: str = "") -> None:
    """Register packages as plain folders below `root`: those in `_DOORLESS`, and an entry's own."""
    for name in (*_DOORLESS, *_around(entry)):
        package = types.ModuleType(name)
        package.__path__ = [os.path.join(root, *name.split("."))]
        sys.modules[name] = package


def _around(entry: str) -> list[str]:
    """Return the packages of ciguard whose folder `in_target` holds the entry."""
    names = entry.split(".")
    if names[0] != "ciguard" or _IN_TARGET not in names:
        return []
    return [".".join(names[:end]) for end in range(2, names.index(_IN_TARGET) + 1)]


def _settings(given: str) -> Any:
    if not given.startswith("@"):
        return json.loads(given)
    with open(given[1:], encoding="utf-8") as file:
        return json.load(file)


def main() -> None:
    """Run the fork server, or one case under a debugger."""
    settings = _settings(sys.argv[1])
    # Python puts a script's folder first, and modules here have names that others have as well.
    own = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [path for path in sys.path if os.path.abspath(path) != own]
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(__file__))))
    open_packages(root, settings.get("entry", ""))
    from ciguard.execution.worker import privileges

    if "case" not in settings and "entry" not in settings:
        _serve(settings, int(sys.argv[2]), sys.argv[3:])
        return
    if settings.get("held"):
        _enter(settings, int(sys.argv[2]), sys.argv[3:])
        return
    privileges.die_with_parent()
    if "case" in settings:
        _watch(settings)
        return
    importlib.import_module(settings["entry"]).run(settings, int(sys.argv[2]))


def _watch(settings: Any) -> None:
    """Run one case under a debugger, which this process becomes, or under one that started it.

    Nothing of the target's environment has run before the process is confined.
    """
    from ciguard.execution.worker import confine

    if settings["debugger"] or settings["holds_itself"]:
        confine.hold(settings)
    if settings["debugger"]:
        _become(settings)
    if settings["holds_itself"]:
        site.main()  # which the interpreter was started without
    if settings["device"] != "cpu":
        confine.settle(settings, settings["scratch"])
    from ciguard.execution.worker import debugged

    debugged.run(settings)


def _become(settings: Any) -> NoReturn:
    """Become the debugger that the settings name; its child runs the case."""
    os.chdir(settings["scratch"])
    inner = [sys.argv[0], json.dumps({**settings, "debugger": []})]
    with open(_DEBUGGED, "w", encoding="utf-8") as file:
        file.write(f"import runpy, sys\nsys.argv = {inner!r}\n")
        file.write("runpy.run_path(sys.argv[0], run_name='__main__')\n")
    # Without a shell gdb parts arguments at spaces: none of these holds one.
    own = [sys.executable, "-s", _DEBUGGED]
    debugger = settings["debugger"]
    os.execv(debugger[0], [*debugger, *own])  # noqa: S606 - no shell is wanted


def _hold(settings: Any, descriptor: int, options: list[str]) -> NoReturn:
    """Confine this process, and start the interpreter anew with these options.

    The second interpreter reads what the target's environment has it run when it starts (`.pth`
    files, `sitecustomize`): a wheel under test may bring those.
    """
    from ciguard.execution.worker import (
        confine,
        privileges,
        reaper,
        strays,
    )

    look = functools.partial(strays.end_greedy, settings["writable"])
    used = ["reaper"] if reaper.fork_below(descriptor, look) else []
    privileges.die_with_parent()
    used += confine.hold_import(settings)
    again = [sys.executable, *options, *sys.argv, json.dumps(used)]
    os.execv(sys.executable, again)  # noqa: S606 - no shell is wanted


def _enter(settings: Any, descriptor: int, held: list[str]) -> None:
    """Run the entry of another room, confined."""
    from ciguard.execution.worker import confine, limits

    if not held:
        _hold(settings["held"], descriptor, ["-u"])
    limits.limit_output(settings["held"]["output_mib"])
    confine.restrict_calls(confine.role_of(settings["held"]))
    settings["confined_by"] = json.loads(held[0])
    importlib.import_module(settings["entry"]).run(settings, descriptor)


def _serve(settings: Any, descriptor: int, held: list[str]) -> None:
    """Run the fork server, confined."""
    if not held:
        _hold(settings, descriptor, ["-s"])
    from ciguard.execution.worker.server import Server

    with socket.socket(fileno=descriptor) as control:
        Server(settings, control, json.loads(held[0])).serve()


if __name__ == "__main__":
    main()
