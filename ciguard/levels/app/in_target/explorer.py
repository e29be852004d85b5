"""The process in which an application's functions are called with answers made by ciguard.

Started by `exploration/` through the worker's bootstrap. Requests and answers are lines of JSON on
a socket. Runs in the application's interpreter: standard library only, Python 3.9 and later.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import faulthandler
import importlib
import inspect
import itertools
import json
import os
import random
import runpy
import signal
import socket
import sys
import threading
import traceback
from typing import Any, Callable, Dict, List, Set, Tuple

from ciguard.levels.app.in_target import hooks, stored
from ciguard.levels.app.in_target.asking import UnknownOperationError
from ciguard.levels.app.in_target.given import (
    EVENT,
    ITS_CALLERS,
    ProgramArguments,
    answering,
    argument,
    event,
    forms_in,
)
from ciguard.levels.app.in_target.guessing import guesses, is_of_guess
from ciguard.levels.app.in_target.probing import Probes
from ciguard.levels.app.in_target.served import listen_on
from ciguard.levels.app.in_target.waiting import shorten

Json = Any
_AROUND = frozenset({"argv", "object", "request"})
"""Forms of what is there when a function is called, and is no argument."""
PROGRAM = "<module>"
"""Names what a file does itself."""
_MAX_LENGTH = 300
_MAX_ITEMS = 1000
_MAX_QUESTIONS = 200
_OF_CONFINEMENT = " (ciguard confines applications, see docs/levels/app.md)"
_OF_VARIABLES = ([os.__file__], ["<frozen os>"])
"""Where `os.environ` raises."""


def run(settings: Json, descriptor: int) -> None:
    """Serve until the other side closes its end."""
    with open(settings["stack"], "ab", buffering=0) as stack:
        faulthandler.enable(stack)
        faulthandler.register(signal.SIGUSR1, stack, all_threads=False)
        sys.path[:] = list(dict.fromkeys([*settings["path"], *sys.path]))
        if "listener" in settings:
            listen_on(settings["listener"])
        with socket.socket(fileno=descriptor) as channel:
            os.chdir(settings["root"])  # where its own paths begin
            _Explorer(settings, channel).serve()


class _CannotBeCalledError(Exception):
    """There is no such function here, with the reason."""


class _TooManyQuestionsError(Exception):
    """The application asks without end."""


class _Explorer:
    def __init__(self, settings: Json, channel: socket.socket) -> None:
        self._incoming = channel.makefile("r", encoding="utf-8")
        self._outgoing = channel.makefile("w", encoding="utf-8")
        self._process = os.getpid()
        self._answers: Json = None
        self._asking = threading.Lock()
        self._asked: List[str] = []
        self._problem = ""
        self._is_called = False
        self._guesses: Set[str] = set()
        """Types of arguments that a parameter's name alone speaks for."""
        self._is_real = bool(settings["real"])
        self._confined_by = settings.get("confined_by", [])
        for name, value in settings["variables"].items():
            os.environ.setdefault(name, value)
        self._providers = settings["providers"]
        self._by_file: Dict[str, Any] = {}
        places = {tuple(place) for place in settings["places"]}
        self._probes = Probes(settings["files"], places, settings["texts"])

    def serve(self) -> None:
        """Answer until there is nobody to ask."""
        for provider, settings in self._providers.items():
            hook = hooks.load(provider, settings["hook"], settings["file"])
            self._stand_between(provider, hook, is_asked=settings["is_asked"])
        if not self._is_real:  # a service itself takes its time
            shorten()
        self._probes.install()
        self._say({"ready": "", "confined_by": self._confined_by})
        for line in self._incoming:
            request = json.loads(line)
            self._is_called = True
            try:
                answer = self._served(request)
            except Exception:  # noqa: BLE001 - a defect of ciguard, which the other side raises
                answer = {"defect": traceback.format_exc()}
            with self._asking:  # a thread that goes on asks nobody from now on
                self._is_called = False
                self._say(answer)

    def _stand_between(self, provider: str, hook: hooks.Hook, *, is_asked: bool) -> None:
        try:
            if self._is_real:
                hook.observe(self._heard)
            else:
                hook.intercept(self._answer_of)
        except ImportError as error:  # nothing is called then: a client might ask the service
            if is_asked:
                self._problem = f"the clients of {provider} cannot be answered: {error}"

    def _say(self, answer: Json) -> None:
        if os.getpid() != self._process:  # the application has forked, and this is the copy
            os._exit(0)
        for stream in (sys.stdout, sys.stderr):
            # The application may have closed its streams, or put something else in their place.
            with contextlib.suppress(Exception):
                stream.flush()
        self._outgoing.write(json.dumps(answer) + "\n")
        self._outgoing.flush()

    def _answer_of(self, operation: str, about: bytes) -> Json:
        self._asked.append(operation)
        if self._answers is not None:
            return self._answers.get(operation, {"answer": {}})
        if len(self._asked) > _MAX_QUESTIONS:
            raise _TooManyQuestionsError
        wish = {"operation": operation, "about": base64.b64encode(about).decode()}
        return self._reply_to(wish)

    def _reply_to(self, wish: Json) -> Json:
        with self._asking:  # of several threads, one after the other
            if not self._is_called:
                msg = "something after the call has returned"
                raise UnknownOperationError(msg)
            self._say({"wants": wish})
            return json.loads(self._incoming.readline())["given"]

    def _heard(self, operation: str, about: bytes, said: Json) -> None:
        self._asked.append(operation)
        wish = {"operation": operation, "about": base64.b64encode(about).decode(), "heard": said}
        self._reply_to(wish)

    def _served(self, request: Json) -> Json:
        if self._problem:
            return {"problem": self._problem}
        self._answers, self._asked = request["answers"], []
        self._probes.begin()
        try:
            function, positional, arguments = self._prepared(request)
        except _CannotBeCalledError as error:
            return {"problem": str(error)}
        self._probes.begin()
        random.seed(0)  # what chance decides is to recur
        raised = None
        try:
            finished(function(*positional, **arguments))
        except _TooManyQuestionsError:
            return {"problem": "goes on asking"}
        except UnknownOperationError as error:
            return {"problem": f"it asks for {error}, which no answers are made for"}
        except BaseException as error:  # noqa: BLE001 - the application's, whatever it is
            raised = self._raised(error)
            if not raised["frames"] and not inspect.isroutine(function):
                kind = f"{type(function).__module__}.{type(function).__name__}"
                told = f"is an object of {kind} by its decorators: {self._told(error)}"
                return {"problem": told}
        return {"seen": self._probes.seen, "asked": self._asked, "raised": raised}

    def _prepared(self, request: Json) -> Tuple[Any, List[Any], Dict[str, Any]]:
        """Return what is called, and its arguments without and with names."""
        given = request["arguments"]
        stored.forget()
        self._guesses = set(guesses(list(given.values())))
        sys.argv = ProgramArguments([request["file"]])
        function = self._function(request)
        arguments = {
            name: self._argument(one)
            for name, one in given.items()
            if one.keys().isdisjoint(_AROUND)
        }
        for one in given.values():
            if "request" in one:
                function = self._answering(function, one["request"])
            if "argv" in one:
                sys.argv.append(one["argv"])
        if EVENT in arguments:
            self._guesses |= {"str", "NotAll"}
            arguments[EVENT] = event(arguments[EVENT])
        # A request that is passed is so by its name, and so is what stands beside it.
        first = request["positional"] if arguments.keys() >= set(request["positional"]) else []
        return function, [arguments.pop(name) for name in first], arguments

    def _function(self, request: Json) -> Any:
        if request["function"] == PROGRAM:
            file = request["file"]
            return lambda: as_program(lambda: self._probes.load("__main__", file))
        try:
            module = self._imported(request["module"], request["file"])
        except BaseException as error:
            msg = f"cannot be imported: {self._told(error)}"
            raise _CannotBeCalledError(msg) from error
        made = [one["object"] for one in request["arguments"].values() if "object" in one]
        try:
            for one in made:
                named = {name: self._argument(given) for name, given in one["named"].items()}
                owner = member_of(module, one["of"])(**named)
                return getattr(owner, request["function"].rpartition(".")[2])
            return member_of(module, request["function"])
        except _CannotBeCalledError:
            raise
        except BaseException as error:
            msg = f"cannot be had: {self._told(error)}"
            raise _CannotBeCalledError(msg) from error

    def _answering(self, function: Any, request: Json) -> Any:
        """Return a function that answers a request."""
        parts = {
            part: {name: self._argument(one) for name, one in fields.items()}
            for part, fields in request["parts"].items()
        }
        return answering(function, parts, is_passed=request["is_passed"])

    def _argument(self, given: Json) -> Any:
        if self._is_real and not ITS_CALLERS.isdisjoint(forms_in(given)):
            msg = "it takes a client, a key or a place, which only its caller has"
            raise _CannotBeCalledError(msg)
        try:
            return argument(given)
        except BaseException as error:
            msg = f"what it takes cannot be made: {self._told(error)}"
            raise _CannotBeCalledError(msg) from error

    def _imported(self, name: str, file: str) -> Any:
        """Return a module; one that has another's name, or none to import it by, by its file."""
        if name in self._by_file:
            return self._by_file[name]
        if name.count(".") == file.count("/"):
            module = importlib.import_module(name)
            if self._probes.file_of(getattr(module, "__file__", None) or "") == file:
                return module
        own = name if name not in sys.modules else f"{name} of {file}"
        return self._by_file.setdefault(name, self._probes.load(own, file))

    def _told(self, error: BaseException) -> str:
        """Return an exception in words, and where in the application it is raised."""
        if isinstance(error, ModuleNotFoundError) and not hooks.advice(str(error)):
            return f"{self._words(error)} in the interpreter of --python"
        frames = self._raised(error)["frames"]
        where = f" ({frames[-1][0]}, line {frames[-1][1]})" if frames else ""
        return f"{type(error).__name__}: {self._words(error)}{where}"

    def _words(self, error: BaseException) -> str:
        """Return an exception's message, with what may have refused it."""
        if isinstance(error, PermissionError) and self._confined_by:
            return f"{_message(error)}{_OF_CONFINEMENT}"
        return _message(error)

    def _raised(self, error: BaseException) -> Json:
        frames = [
            [self._probes.file_of(frame.filename), frame.lineno or 0, frame.name]
            for frame in traceback.extract_tb(error.__traceback__)
        ]
        return {
            "type": type(error).__name__,
            "message": self._words(error),
            "frames": [frame for frame in frames if frame[0]],
            "own": bool(frames and frames[-1][0]),
            "lacks": _is_of_surroundings(error) or is_of_guess(error, self._guesses),
        }


def _message(error: BaseException) -> str:
    try:
        message = str(error)[:_MAX_LENGTH]
    except Exception:  # noqa: BLE001 - the application's, whatever it is
        return "its message cannot be had"
    advice = hooks.advice(message)
    return f"{message}. {advice}" if advice else message


def _is_of_surroundings(error: BaseException) -> bool:
    """Return whether an exception may say only what is missing here: a file, a network, a key.

    Those of other packages are taken to: what they mean, nobody knows.
    """
    if type(error).__module__ != "builtins":  # NotGivenError too
        return True
    if isinstance(error, (OSError, ImportError, EOFError, SystemExit, KeyboardInterrupt)):
        return True
    last = [frame.filename for frame in traceback.extract_tb(error.__traceback__)[-1:]]
    return isinstance(error, KeyError) and last[:1] in _OF_VARIABLES


def program_of(file: str) -> Any:
    """Return what runs a file as the program that was started."""
    return lambda: as_program(lambda: runpy.run_path(file, run_name="__main__"))


def as_program(run: Callable[[], Any]) -> None:
    """Run a file as if it were the program that was started."""
    before = sys.modules["__main__"]
    try:
        run()
    finally:
        sys.modules["__main__"] = before


def function_of(module: str, name: str) -> Any:
    """Return a function of a module that can be imported; see `member_of`."""
    return member_of(importlib.import_module(module), name)


def member_of(module: Any, name: str) -> Any:
    """Return a function, or a method of an object that is made without arguments.

    A method of one that needs some is taken from that; see `_Explorer._function`.
    """
    found = module
    for part in name.split("."):
        owner, found = found, getattr(found, part)
        own = owner.__dict__.get(part) if isinstance(owner, type) else None
        if isinstance(owner, type) and not isinstance(own, (staticmethod, classmethod)):
            found = getattr(owner(), part)
    return found


def finished(result: Any) -> None:
    """Run what a call has only begun: a coroutine, a generator of either kind."""
    if inspect.iscoroutine(result):
        asyncio.run(result)
    elif inspect.isasyncgen(result):
        asyncio.run(_taken_from(result))
    elif inspect.isgenerator(result):
        for _ in itertools.islice(result, _MAX_ITEMS):
            continue


async def _taken_from(generator: Any) -> None:
    """Run an asynchronous generator as far as a plain one."""
    left = _MAX_ITEMS
    async for _ in generator:
        left -= 1
        if not left:
            break
    await generator.aclose()
