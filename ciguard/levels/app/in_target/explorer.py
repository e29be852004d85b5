"""The process in which an application's functions are called with stub responses.

`exploration/` starts it through the worker's bootstrap. Requests and answers are lines of JSON on a
socket. It runs in the application's interpreter: standard library only, Python 3.9 and later.
"""

from __future__ import annotations

import asyncio
import base64
import builtins
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

from ciguard.levels.app.in_target import django_views, hooks, stored
from ciguard.levels.app.in_target.asking import UnknownOperationError
from ciguard.levels.app.in_target.causes import ErrorRecords
from ciguard.levels.app.in_target.given import (
    CALLER_FORMS,
    EVENT,
    ProgramArguments,
    answering,
    argument,
    event,
    forms_in,
)
from ciguard.levels.app.in_target.guessing import guesses
from ciguard.levels.app.in_target.probing import Probes
from ciguard.levels.app.in_target.served import listen_on
from ciguard.levels.app.in_target.stubs import StubImporter
from ciguard.levels.app.in_target.waiting import shorten_waiting
from ciguard.levels.app.in_target.workspace import Workspace

Json = Any
_SETUP_FORMS = frozenset({"argv", "input", "object", "request"})
"""Forms that prepare a call instead of making one of its arguments."""
PROGRAM = "<module>"
"""Name of the function that stands for a file's top-level code."""
_TYPED = "1"
"""Answer to `input()` while a file is imported: a text that is also a number."""
_MAX_ITEMS = 1000
"""Maximum number of items that are read from a generator."""
_MAX_REQUESTS = 200
"""Maximum number of requests to services in one call."""


def run(settings: Json, descriptor: int) -> None:
    """Call functions on request until ciguard closes its end of the socket.

    Args:
        settings: what `exploration/` sends: the application's folder, files, variables and
            providers, and the sub-conditions to instrument.
        descriptor: file descriptor of the socket.
    """
    with open(settings["stack"], "ab", buffering=0) as stack:
        faulthandler.enable(stack)
        faulthandler.register(signal.SIGUSR1, stack, all_threads=False)
        sys.path[:] = list(dict.fromkeys([*settings["path"], *sys.path]))
        if "listener" in settings:
            listen_on(settings["listener"])
        with socket.socket(fileno=descriptor) as channel:
            home = os.environ["HOME"] if settings.get("confined_by") else ""
            workspace = Workspace(settings["root"], home, settings["inputs"])
            workspace.enter()  # the application's relative paths start here
            _Explorer(settings, channel, workspace).serve()


class _CannotBeCalledError(Exception):
    """The function cannot be called, for the reason in the message."""


class _TooManyRequestsError(Exception):
    """The application sends more than `_MAX_REQUESTS` requests in one call."""


class _Explorer:
    def __init__(self, settings: Json, channel: socket.socket, workspace: Workspace) -> None:
        self._workspace = workspace
        self._leaves_files: Set[str] = set()
        """Names of functions that fail on the files which an earlier call has left."""
        self._incoming = channel.makefile("r", encoding="utf-8")
        self._outgoing = channel.makefile("w", encoding="utf-8")
        self._process = os.getpid()
        self._answers: Json = None
        self._channel_lock = threading.Lock()
        self._requested: List[str] = []
        self._problem = ""
        self._last_error: Any = None
        self._is_in_call = False
        self._guessed_types: Set[str] = set()
        """Names of the types of those arguments that were guessed from a parameter's name."""
        self._uses_real_service = bool(settings["real"])
        self._confined_by = settings.get("confined_by", [])
        for name, value in settings["variables"].items():
            os.environ.setdefault(name, value)
        self._providers = settings["providers"]
        self._stubbed_parameters: Dict[str, None] = {}
        """Parameters of the function that got a stub."""
        self._django: Any = settings["django"]
        """Fields of `DjangoProject`; None if the application does not use Django."""
        self._django_remarks: Any = None
        """Sentences about Django's settings; None until they are loaded."""
        self._modules_by_name: Dict[str, Any] = {}
        places = {tuple(place) for place in settings["places"]}
        self._is_lenient = settings["is_lenient"]
        self._stubs = StubImporter(settings["stubs"], settings["kept"])
        self._probes = Probes(
            settings["files"],
            places,
            settings["texts"],
            is_lenient=self._is_lenient,
            is_confined=bool(self._confined_by),
        )
        self._errors = ErrorRecords(self._probes.file_of, is_confined=bool(self._confined_by))

    def serve(self) -> None:
        """Install the hooks, and answer requests until the channel is closed."""
        for provider, settings in self._providers.items():
            hook = hooks.load(provider, settings["hook"], settings["file"])
            self._install(provider, hook, is_asked=settings["is_asked"])
        if not self._uses_real_service:  # a real service needs its time
            shorten_waiting()
        self._stubs.install()
        self._probes.install()
        self._send({"ready": "", "confined_by": self._confined_by})
        for line in self._incoming:
            request = json.loads(line)
            self._is_in_call = True
            try:
                answer = self._call(request)
            except Exception:  # noqa: BLE001 - a defect of ciguard, which the parent process raises
                answer = {"defect": traceback.format_exc()}
            with self._channel_lock:  # a thread that outlives the call gets no more replies
                self._is_in_call = False
                self._send(answer)

    def _install(self, provider: str, hook: hooks.Hook, *, is_asked: bool) -> None:
        """Intercept or observe the clients of a provider; note a problem if this is impossible."""
        try:
            if self._uses_real_service:
                hook.observe(self._observe)
            else:
                hook.intercept(self._reply)
        except ImportError as error:  # functions are not called: a client might reach the service
            if is_asked:
                self._problem = f"cannot intercept the clients of {provider}: {error}"

    def _send(self, answer: Json) -> None:
        """Send a message to ciguard, after the application's output is flushed."""
        if os.getpid() != self._process:  # this is a process that the application has forked
            os._exit(0)
        for stream in (sys.stdout, sys.stderr):
            # The application may have closed or replaced its streams.
            with contextlib.suppress(Exception):
                stream.flush()
        self._outgoing.write(json.dumps(answer) + "\n")
        self._outgoing.flush()

    def _reply(self, operation: str, content: bytes) -> Json:
        """Return the prepared stub response to a request.

        If no stub responses were prepared, ask ciguard for a response.
        """
        self._requested.append(operation)
        if self._answers is not None:
            return self._answers.get(operation, {"answer": {}})
        if len(self._requested) > _MAX_REQUESTS:
            raise _TooManyRequestsError
        request = {"operation": operation, "about": base64.b64encode(content).decode()}
        return self._request(request)

    def _request(self, request: Json) -> Json:
        """Send a request for an answer to ciguard, and return the answer."""
        with self._channel_lock:  # threads take turns on the channel
            if not self._is_in_call:
                msg = "an operation after the call has returned"
                raise UnknownOperationError(msg)
            self._send({"wants": request})
            return json.loads(self._incoming.readline())["given"]

    def _observe(self, operation: str, content: bytes, reply: Json) -> None:
        """Report the answer of a real service to ciguard."""
        self._requested.append(operation)
        request = {
            "operation": operation,
            "about": base64.b64encode(content).decode(),
            "heard": reply,
        }
        self._request(request)

    def _call(self, request: Json) -> Json:
        """Call the requested function, without the files of earlier calls if it fails on them."""
        name = f"{request['module']}.{request['function']}"
        if name in self._leaves_files:
            self._workspace.put_back()
        answer = self._call_once(request)
        while self._is_lenient and self._stubs.add_missing(self._last_error):
            answer = self._call_once(request)
        exists_already = FileExistsError.__name__ in str(
            answer.get("problem") or (answer["raised"] or {}).get("type")
        )
        if exists_already and name not in self._leaves_files and self._workspace.put_back():
            self._leaves_files.add(name)
            return self._call_once(request)
        return answer

    def _call_once(self, request: Json) -> Json:
        """Call the requested function; return its exception and its sub-conditions' outcomes."""
        if self._problem:
            return {"problem": self._problem}
        self._answers, self._requested, self._last_error = request["answers"], [], None
        self._stubs.were_used = False
        self._stubbed_parameters.clear()
        self._probes.reset()
        try:
            function, positional, arguments = self._prepare(request)
        except _CannotBeCalledError as error:
            self._last_error = error.__cause__
            return {"problem": str(error)}
        self._probes.reset()
        random.seed(0)  # makes the application's random choices repeatable
        raised, problem = None, ""
        try:
            finished(function(*positional, **arguments))
        except _TooManyRequestsError:
            problem = f"it sends more than {_MAX_REQUESTS} requests to services"
        except UnknownOperationError as error:
            problem = f"it uses {error}, for which ciguard has no stub responses"
        except BaseException as error:  # noqa: BLE001 - the application may raise anything
            self._last_error = error
            raised = self._errors.record(
                error, self._guessed_types, is_excused=self._stubs.were_used
            )
            problem = self._probes.skipped_definition(error)
            if not raised["frames"] and not inspect.isroutine(function):
                kind = f"{type(function).__module__}.{type(function).__name__}"
                problem = (
                    f"its decorators replace it by an object of {kind}, and calling this object "
                    f"fails: {self._errors.text(error)}"
                )
        if problem:
            return {"problem": problem}
        return {
            "seen": self._probes.outcomes,
            "asked": self._requested,
            "raised": raised,
            "remarks": [
                *(f"{name} is not installed, and was stubbed" for name in self._stubs.missing),
                *(
                    f"the type of parameter `{name}` is unknown, and it was stubbed; annotate it, "
                    "or give it a default"
                    for name in self._stubbed_parameters
                ),
                *(self._django_remarks or []),
                *self._probes.remarks(),
            ],
        }

    def _prepare(self, request: Json) -> Tuple[Any, List[Any], Dict[str, Any]]:
        """Return a callable, its positional arguments and its keyword arguments."""
        forms = self._workspace.with_own_files(request["arguments"])
        stored.remove_all()
        self._guessed_types = set(guesses(list(forms.values())))
        sys.argv = ProgramArguments([request["file"]])
        self._type_in(_TYPED)
        function = self._find_function({**request, "arguments": forms})
        arguments = {
            name: self._make_argument(form)
            for name, form in forms.items()
            if form.keys().isdisjoint(_SETUP_FORMS)
        }
        for form in forms.values():
            if "request" in form:
                function = self._with_web_request(function, form["request"])
            if "argv" in form:
                sys.argv.append(form["argv"])
            if "input" in form:
                self._type_in(form["input"])
                self._guessed_types.add("str")
        if EVENT in arguments:
            self._guessed_types |= {"str", "NotAll"}
            arguments[EVENT] = event(arguments[EVENT])
        # `_with_web_request` has bound web requests to the function, so that they are not in
        # `arguments`. If one of the positional arguments is bound, pass all others by keyword.
        positional = request["positional"] if arguments.keys() >= set(request["positional"]) else []
        return function, [arguments.pop(name) for name in positional], arguments

    def _type_in(self, text: str) -> None:
        """Let the application read a text from its terminal, which a person types."""
        builtins.input = lambda *_: text

    def _find_function(self, request: Json) -> Any:
        """Return the requested function, or a method of an object that is created here."""
        if request["function"] == PROGRAM:
            file = request["file"]
            return lambda: as_program(lambda: self._probes.load("__main__", file))
        before = self._workspace.entries()
        try:
            if self._django is not None and self._django_remarks is None:
                self._django_remarks = django_views.set_up(self._django, self._errors.text)
            module = self._import_module(request["module"], request["file"])
            self._workspace.remember(before)
        except BaseException as error:
            msg = f"cannot be imported: {self._errors.text(error)}"
            raise _CannotBeCalledError(msg) from error
        objects = [form["object"] for form in request["arguments"].values() if "object" in form]
        try:
            for form in objects:
                arguments = {
                    name: self._make_argument(argument_form)
                    for name, argument_form in form["named"].items()
                }
                owner = member_of(module, form["of"])(**arguments)
                return getattr(owner, request["function"].rpartition(".")[2])
            return member_of(module, request["function"])
        except _CannotBeCalledError:
            raise
        except BaseException as error:
            msg = f"cannot be created: {self._errors.text(error)}"
            raise _CannotBeCalledError(msg) from error

    def _with_web_request(self, function: Any, request: Json) -> Any:
        """Return a function that calls a view with a request of these parts."""
        parts = {
            part: {name: self._make_argument(form) for name, form in fields.items()}
            for part, fields in request["parts"].items()
        }
        if request["is_of_django"]:
            return django_views.answering(function, parts)
        return answering(function, parts, is_passed=request["is_passed"])

    def _make_argument(self, form: Json) -> Any:
        """Return the argument of a form, unless only the application's own code can supply it."""
        if self._uses_real_service and not CALLER_FORMS.isdisjoint(forms_in(form)):
            msg = "it needs a client, key or path that only the application's own code can supply"
            raise _CannotBeCalledError(msg)
        if "stub" in form:
            self._stubbed_parameters[form["stub"]] = None
            return self._stubs.argument(form["stub"])
        try:
            return argument(form)
        except BaseException as error:
            msg = f"an argument cannot be created: {self._errors.text(error)}"
            raise _CannotBeCalledError(msg) from error

    def _import_module(self, name: str, file: str) -> Any:
        """Return the module of a file: imported by its name, or else loaded from the file."""
        if name in self._modules_by_name:
            return self._modules_by_name[name]
        if name.count(".") == file.count("/"):
            module = importlib.import_module(self._imported_name(name, file))
            if self._probes.file_of(getattr(module, "__file__", None) or "") == file:
                return module
        module_name = name if name not in sys.modules else f"{name} of {file}"
        return self._modules_by_name.setdefault(name, self._probes.load(module_name, file))

    def _imported_name(self, name: str, file: str) -> str:
        """Return the name by which a module is imported: in Django, from its project's folder."""
        folder = f"{self._django['folder']}/" if self._django else "/"
        return name[len(folder) :] if file.startswith(folder) else name


def program_of(file: str) -> Any:
    """Return a function that runs a file as the main program."""
    return lambda: as_program(lambda: runpy.run_path(file, run_name="__main__"))


def as_program(run: Callable[[], Any]) -> None:
    """Call `run`, and then restore the module `__main__`."""
    before = sys.modules["__main__"]
    try:
        run()
    finally:
        sys.modules["__main__"] = before


def function_of(module: str, name: str) -> Any:
    """Return a function or method of a module that can be imported; see `member_of`."""
    return member_of(importlib.import_module(module), name)


def member_of(module: Any, name: str) -> Any:
    """Return a function, or a method of an object that is created without arguments.

    Args:
        module: the module that has the function.
        name: name in the module, such as `recognise` or `Album.add`.
    """
    member = module
    for part in name.split("."):
        owner, member = member, getattr(member, part)
        attribute = owner.__dict__.get(part) if isinstance(owner, type) else None
        if isinstance(owner, type) and not isinstance(attribute, (staticmethod, classmethod)):
            member = getattr(owner(), part)
    return member


def finished(result: Any) -> None:
    """Run the coroutine or generator that a call returned, up to `_MAX_ITEMS` items."""
    if inspect.iscoroutine(result):
        asyncio.run(result)
    elif inspect.isasyncgen(result):
        asyncio.run(_run_async_generator(result))
    elif inspect.isgenerator(result):
        for _ in itertools.islice(result, _MAX_ITEMS):
            continue


async def _run_async_generator(generator: Any) -> None:
    """Run an asynchronous generator, up to `_MAX_ITEMS` items."""
    remaining = _MAX_ITEMS
    async for _ in generator:
        remaining -= 1
        if not remaining:
            break
    await generator.aclose()
