"""Calls annotated functions in the process that imported their module, and says what came of it.

Runs in a target's interpreter: standard library only, Python 3.9 and later. What a call may do to
the process (crash, hang, exit) is the business of who started it.
"""

from __future__ import annotations

import inspect
import time
from typing import Any

from ciguard.functions.in_target.calling.building import (
    CallBuilder,
    CannotBuildError,
    library_of,
    own_copy,
)
from ciguard.functions.in_target.calling.judging import (
    are_small,
    changed,
    frames_of,
    has_nan,
    key_of,
    snapshot,
)
from ciguard.functions.in_target.calling.running import (
    DiscardedError,
    called,
    called_through,
    consumed,
    seed,
    unfiltered,
)
from ciguard.functions.in_target.describing.conditions import RESULT, CallableCondition
from ciguard.functions.in_target.describing.module import Description
from ciguard.functions.in_target.describing.nesting import Capture
from ciguard.functions.in_target.describing.notes import documented_exceptions, notes_on
from ciguard.functions.in_target.describing.places import (
    FunctionLocation,
    calls_instance,
    is_abstract,
)

Json = Any

ORACLES = frozenset(("exception", "ensure", "nan", "timeout"))
"""Kinds of failures that count unless told otherwise; `mutation` is told of, and no failure."""


class Caller:
    """Calls the annotated functions of one imported module.

    Args:
        module: that was imported.
        oracles: kinds of failures that count.
        description: of the module, where it is at hand already.
    """

    def __init__(
        self,
        module: Any,
        oracles: frozenset[str] = ORACLES,
        description: Description | None = None,
    ) -> None:
        self.description = description or Description(module)
        self._file = self.description.file
        self._oracles = oracles
        self._builder = CallBuilder(library_of(module), self._choice, self._generate)
        self._conditions: dict[tuple[str, str], list[CallableCondition]] = {}
        self.last: Any = None
        """What the last call returned, lazy results as lists, or the exception that it raised."""

    def run(self, call: Json) -> dict[str, Any]:
        """Make a call and return what came of it.

        Args:
            call: JSON form of `functions.specs.Call`; with `seed`, of random generators, if that
                is not 0.

        Returns:
            A dictionary with `status`: `passed` (with `raised` where a documented exception was),
            `discarded` (a precondition does not hold; `reason`), `no-instance` (an argument or the
            instance could not be made; `reason`, `frames`) or `failed` (`kind`, `type`, `message`,
            `frames`, `key`). Besides `mutated`: names of changed arguments, and `seconds`.
        """
        return _Run(self, call).result()

    def nested(self, call: Json) -> Json:
        """Make a call and describe the annotated functions that it defines.

        Args:
            call: of a function that defines some (`FunctionSpec.has_nested`).

        Returns:
            `{"functions": […], "problems": […]}`, for `with_functions`. None of them where
            the call fails before it defines one.
        """
        captured = self._captured(call)
        return self.description.nested(captured, call["function"])

    def nested_place(self, call: Json) -> FunctionLocation:
        """Call what defines the function of a call, and return where that is now.

        Raises:
            CannotBuildError: if it is not defined by that.
        """
        self.nested(call["outer"])
        name = call["function"]
        for key in ("requires", "ensures"):
            self._conditions.pop((name, key), None)  # of another closure
        if name not in self.description.places:
            msg = f"{call['outer']['function']} does not define {name} when called so"
            raise CannotBuildError(msg)
        return self.place(name)

    def own_place(self, call: Json) -> FunctionLocation:
        """Return where the function of a call is that the module defines itself."""
        return self.place(call["function"])

    def _captured(self, call: Json) -> dict[str, Any]:
        with Capture(self._file) as capture:
            _Run(self, call).result()
        return capture.functions

    def place(self, name: str) -> FunctionLocation:
        """Return where a function is.

        Raises:
            KeyError: if the module has none of that name.
        """
        return self.description.places[name]

    def conditions(self, name: str, key: str) -> list[CallableCondition]:
        """Return the live conditions of a function, `requires` or `ensures`."""
        found = self._conditions.get((name, key))
        if found is None:
            place = self.place(name)
            notes = notes_on(place.function) or {}
            plain = inspect.unwrap(place.function)
            scope = notes.get("scope")
            found = [CallableCondition(c, plain, line, scope) for c, line in notes.get(key, ())]
            self._conditions[name, key] = found
        return found

    def build(self, named: Json) -> dict[str, Any]:
        """Build the arguments of a call."""
        return self._builder.named(named)

    @property
    def file(self) -> str:
        """File of the module."""
        return self._file

    def counts(self, kind: str) -> bool:
        """Return whether a kind of failure counts."""
        return kind in self._oracles

    def _choice(self, function: str, argument: str, number: int) -> Any:
        found = self.description.choices[function, argument][number]
        return own_copy(found, self.description.module)

    def _generate(self, function: str, arguments: dict[str, Any]) -> Any:
        place = self.place(function.lstrip(":"))
        if not all(c.holds(arguments) for c in self.conditions(place.name, "requires")):
            raise DiscardedError(place.name)
        if place.kind == "constructor":
            return called(place.owner, arguments)
        first = (place.owner,) if place.kind == "classmethod" else ()
        made = called(place.function, arguments, *first)
        return next(iter(made)) if inspect.isgenerator(made) else made


_EVERY_ERROR = (Exception, BaseException, object)


class _Run:
    """One call."""

    def __init__(self, caller: Caller, call: Json) -> None:
        self._caller = caller
        self._call = call
        self._place = FunctionLocation(call["function"], None, "function")
        self._arguments: dict[str, Any] = {}
        self._first: tuple[Any, ...] = ()
        self._made_with: list[Any] = []
        self._seconds = 0.0

    def result(self) -> dict[str, Any]:
        self._caller.last = None
        seed(int(self._call.get("seed", 0)))
        try:
            self._make()
            reason = self._unmet()
        except DiscardedError as error:
            return {"status": "discarded", "reason": f"a precondition of {error} does not hold"}
        except CannotBuildError as error:
            return {"status": "no-instance", "reason": str(error), "frames": []}
        except Exception as error:  # noqa: BLE001 - constructors and generators raise anything
            reason = f"{type(error).__name__}: {error}"
            return {"status": "no-instance", "reason": reason, "frames": frames_of(error)}
        if reason:
            return {"status": "discarded", "reason": reason}
        return self._judged()

    def _make(self) -> None:
        is_nested = self._call.get("outer") is not None
        find = self._caller.nested_place if is_nested else self._caller.own_place
        self._place = find(self._call)
        if is_abstract(self._place):
            msg = f"{self._place.owner.__name__} is abstract"
            raise CannotBuildError(msg)
        self._arguments = self._caller.build(self._call["arguments"])
        if self._place.kind in ("method", "property"):
            given = self._caller.build(self._call["constructor"] or [])
            self._made_with = [v for v in given.values() if isinstance(v, (int, float))]
            self._first = (called(self._place.owner, given),)
        elif self._place.kind == "classmethod":
            self._first = (self._place.owner,)

    def _known(self) -> dict[str, Any]:
        """Return the names that conditions may use, defaults of what is left out among them."""
        named = {}
        for parameter in inspect.signature(self._place.function).parameters.values():
            if parameter.default is not parameter.empty:
                named[parameter.name] = parameter.default
        named.update(self._arguments)
        if self._first:
            named["cls" if self._place.kind == "classmethod" else "self"] = self._first[0]
        return named

    def _unmet(self) -> str:
        for condition in self._caller.conditions(self._place.name, "requires"):
            try:
                holds = condition.holds(self._known())
            except Exception as error:  # noqa: BLE001 - the user's own expression
                return f"{condition.shown}: {type(error).__name__}: {error}"
            if not holds:
                return condition.shown
        return ""

    def _judged(self) -> dict[str, Any]:
        before = snapshot(self._arguments)
        quiet = are_small([*self._arguments.values(), *self._made_with])
        started = time.perf_counter()
        try:
            returned = self._caller.last = self._value()
        except Exception as error:  # noqa: BLE001 - that is what is looked for
            self._caller.last = error
            return self._ended(self._raised(error), before, started)
        except SystemExit as error:
            self._caller.last = error
            failed = None if error.code in (None, 0) else self._failure("exception", error)
            return self._ended(failed, before, started)
        failed = self._broken(returned, quiet=quiet)
        return self._ended(failed, before, started)

    def _ended(
        self, failed: dict[str, Any] | None, before: dict[str, Any], started: float
    ) -> dict[str, Any]:
        seconds = time.perf_counter() - started
        limit = (notes_on(self._place.function) or {}).get("timeout")
        if failed is None and limit and seconds > limit and self._caller.counts("timeout"):
            message = f"took {seconds:.1f} s, and {limit:g} s are allowed"
            failed = self._plain_failure("timeout", "Timeout", message)
        made = failed or {"status": "passed"}
        return {**made, "mutated": changed(before, self._arguments), "seconds": seconds}

    def _value(self) -> Any:
        place = self._place
        if place.kind == "property":
            return consumed(place.function(*self._first))
        if place.kind == "constructor":
            return called(place.owner, self._arguments)
        if calls_instance(place):
            unfiltered()
            return consumed(called_through(self._first[0], place.function, self._arguments))
        return consumed(called(place.function, self._arguments, *self._first))

    def _raised(self, error: Exception) -> dict[str, Any] | None:
        if isinstance(error, MemoryError):
            return {"status": "discarded", "reason": "out of memory"}
        if self._is_expected(error):
            return {"status": "passed", "raised": type(error).__name__}
        return self._failure("exception", error) if self._caller.counts("exception") else None

    def _is_expected(self, error: Exception) -> bool:
        declared = tuple((notes_on(self._place.function) or {}).get("raises", ()))
        if isinstance(error, declared):
            return True
        plain = inspect.unwrap(self._place.function)
        documented = documented_exceptions(plain)
        # Whoever documents Exception means what is raised as such, not every defect.
        kinds = [base for base in type(error).__mro__ if base not in _EVERY_ERROR]
        return any(kind.__name__ in documented for kind in kinds or [type(error)])

    def _broken(self, returned: Any, *, quiet: bool) -> dict[str, Any] | None:
        if self._caller.counts("ensure"):
            for condition in self._caller.conditions(self._place.name, "ensures"):
                failed = self._unsure(condition, returned)
                if failed is not None:
                    return failed
        if quiet and self._caller.counts("nan") and has_nan(returned):
            message = "the result has NaN, and all arguments are finite and small"
            return self._plain_failure("nan", "NaN", message)
        return None

    def _unsure(self, condition: CallableCondition, returned: Any) -> dict[str, Any] | None:
        text = condition.shown
        try:
            holds = condition.holds({**self._known(), RESULT: returned})
            message = f"{text} does not hold"
        except Exception as error:  # noqa: BLE001 - such as an attribute that None lacks
            holds, message = False, f"{text}: {type(error).__name__}: {error}"
        if holds:
            return None
        return self._plain_failure("ensure", "Postcondition", message, condition.line)

    def _failure(self, kind: str, error: BaseException) -> dict[str, Any]:
        frames = frames_of(error)
        return {
            "status": "failed",
            "kind": kind,
            "type": type(error).__name__,
            "message": str(error),
            "frames": [list(frame) for frame in frames],
            "key": key_of(error, frames, self._caller.file),
        }

    def _plain_failure(
        self, kind: str, name: str, message: str, line: int | None = None
    ) -> dict[str, Any]:
        return {
            "status": "failed",
            "kind": kind,
            "type": name,
            "message": message,
            "frames": [] if line is None else [[self._caller.file, line, self._place.name]],
            "key": f"{name} {self._place.name}" + ("" if line is None else f":{line}"),
        }
