"""Calls annotated functions in the process that imported their module, and reports the results.

Runs in a target's interpreter: standard library only, Python 3.9 and later. Crashes, hangs and
exits of the process are left to the host that started it.
"""

from __future__ import annotations

import inspect
import time
from typing import Any

from ciguard.functions.in_target.calling.building import (
    CallBuilder,
    CannotBuildError,
    library_of,
    private_copy,
)
from ciguard.functions.in_target.calling.judging import (
    are_moderate,
    changed,
    frames_of,
    has_nan,
    key_of,
    snapshot,
)
from ciguard.functions.in_target.calling.running import (
    DiscardedError,
    call_function,
    call_instance,
    consume,
    seed,
    show_full_tracebacks,
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
"""Kinds of failures that count by default. Mutation is always reported, but counts only on request.
"""


class Caller:
    """Calls the annotated functions of one imported module.

    Args:
        module: the imported module.
        oracles: kinds of failures that count.
        description: description of the module; written if not given.
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
        """Return value of the last call, lazy results as lists, or the exception that it raised."""

    def run(self, call: Json) -> dict[str, Any]:
        """Make a call and return its result.

        Args:
            call: JSON form of `functions.specs.Call`; `seed` seeds the random generators, 0 if
                missing.

        Returns:
            A dictionary with the key `status`, by which the other keys differ:

            - `passed`; with `raised` if the call raised a documented exception.
            - `discarded`: a precondition does not hold; with `reason`.
            - `no-instance`: the instance or an argument cannot be built; with `reason`, `frames`.
            - `failed`; with `kind`, `type`, `message`, `frames`, `key`.

            Calls that ran add `mutated` (names of changed arguments) and `seconds`.
        """
        return _CallRun(self, call).result()

    def nested(self, call: Json) -> Json:
        """Make a call and describe the annotated functions that it defines.

        Args:
            call: a call of a function that defines others (`FunctionSpec.has_nested`).

        Returns:
            `{"functions": […], "problems": […]}`, for `with_functions`; both empty if the call
            fails before it defines a function.
        """
        captured = self._captured(call)
        return self.description.nested(captured, call["function"])

    def nested_place(self, call: Json) -> FunctionLocation:
        """Call the outer function and return the location of the nested function that it defines.

        Raises:
            CannotBuildError: if the outer function does not define it.
        """
        self.nested(call["outer"])
        name = call["function"]
        for key in ("requires", "ensures"):
            self._conditions.pop((name, key), None)  # they belong to an earlier closure
        if name not in self.description.places:
            msg = f"{call['outer']['function']} does not define {name} in this call"
            raise CannotBuildError(msg)
        return self.place(name)

    def own_place(self, call: Json) -> FunctionLocation:
        """Return the location of a call's function that the module itself defines."""
        return self.place(call["function"])

    def _captured(self, call: Json) -> dict[str, Any]:
        with Capture(self._file) as capture:
            _CallRun(self, call).result()
        return capture.functions

    def place(self, name: str) -> FunctionLocation:
        """Return the location of a function.

        Raises:
            KeyError: if the module has no function of that name.
        """
        return self.description.places[name]

    def conditions(self, name: str, key: str) -> list[CallableCondition]:
        """Return the callable conditions of a function; `key` is `requires` or `ensures`."""
        conditions = self._conditions.get((name, key))
        if conditions is None:
            place = self.place(name)
            notes = notes_on(place.function) or {}
            plain = inspect.unwrap(place.function)
            scope = notes.get("scope")
            conditions = [
                CallableCondition(condition, plain, line, scope)
                for condition, line in notes.get(key, ())
            ]
            self._conditions[name, key] = conditions
        return conditions

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
        choice = self.description.choices[function, argument][number]
        return private_copy(choice, self.description.module)

    def _generate(self, function: str, arguments: dict[str, Any]) -> Any:
        place = self.place(function.lstrip(":"))
        if not all(
            condition.holds(arguments) for condition in self.conditions(place.name, "requires")
        ):
            raise DiscardedError(place.name)
        if place.kind == "constructor":
            return call_function(place.owner, arguments)
        first = (place.owner,) if place.kind == "classmethod" else ()
        generated = call_function(place.function, arguments, *first)
        return next(iter(generated)) if inspect.isgenerator(generated) else generated


_EVERY_ERROR = (Exception, BaseException, object)


class _CallRun:
    """One call: building its arguments, checking preconditions, calling, checking the result."""

    def __init__(self, caller: Caller, call: Json) -> None:
        self._caller = caller
        self._call = call
        self._place = FunctionLocation(call["function"], None, "function")
        self._arguments: dict[str, Any] = {}
        self._first: tuple[Any, ...] = ()
        self._constructor_numbers: list[Any] = []

    def result(self) -> dict[str, Any]:
        self._caller.last = None
        seed(int(self._call.get("seed", 0)))
        try:
            self._build()
            reason = self._unmet_precondition()
        except DiscardedError as error:
            return {"status": "discarded", "reason": f"a precondition of {error} does not hold"}
        except CannotBuildError as error:
            return {"status": "no-instance", "reason": str(error), "frames": []}
        except Exception as error:  # noqa: BLE001 - constructors and generators raise anything
            reason = f"{type(error).__name__}: {error}"
            return {"status": "no-instance", "reason": reason, "frames": frames_of(error)}
        if reason:
            return {"status": "discarded", "reason": reason}
        return self._judged_call()

    def _build(self) -> None:
        is_nested = self._call.get("outer") is not None
        find = self._caller.nested_place if is_nested else self._caller.own_place
        self._place = find(self._call)
        if is_abstract(self._place):
            msg = f"{self._place.owner.__name__} is abstract"
            raise CannotBuildError(msg)
        self._arguments = self._caller.build(self._call["arguments"])
        if self._place.kind in ("method", "property"):
            arguments = self._caller.build(self._call["constructor"] or [])
            self._constructor_numbers = [
                value for value in arguments.values() if isinstance(value, (int, float))
            ]
            self._first = (call_function(self._place.owner, arguments),)
        elif self._place.kind == "classmethod":
            self._first = (self._place.owner,)

    def _condition_scope(self) -> dict[str, Any]:
        """Return the values that conditions may name, including defaults of missing arguments."""
        scope = {}
        for parameter in inspect.signature(self._place.function).parameters.values():
            if parameter.default is not parameter.empty:
                scope[parameter.name] = parameter.default
        scope.update(self._arguments)
        if self._first:
            scope["cls" if self._place.kind == "classmethod" else "self"] = self._first[0]
        return scope

    def _unmet_precondition(self) -> str:
        for condition in self._caller.conditions(self._place.name, "requires"):
            try:
                holds = condition.holds(self._condition_scope())
            except Exception as error:  # noqa: BLE001 - the user's own expression
                return f"{condition.shown}: {type(error).__name__}: {error}"
            if not holds:
                return condition.shown
        return ""

    def _judged_call(self) -> dict[str, Any]:
        before = snapshot(self._arguments)
        expects_numbers = are_moderate([*self._arguments.values(), *self._constructor_numbers])
        started = time.perf_counter()
        try:
            returned = self._caller.last = self._returned_value()
        except Exception as error:  # noqa: BLE001 - exceptions are what the test looks for
            self._caller.last = error
            return self._with_details(self._failure_of_exception(error), before, started)
        except SystemExit as error:
            self._caller.last = error
            failed = None if error.code in (None, 0) else self._failure("exception", error)
            return self._with_details(failed, before, started)
        failed = self._failed_result_check(returned, expects_numbers=expects_numbers)
        return self._with_details(failed, before, started)

    def _with_details(
        self, failed: dict[str, Any] | None, before: dict[str, Any], started: float
    ) -> dict[str, Any]:
        seconds = time.perf_counter() - started
        limit = (notes_on(self._place.function) or {}).get("timeout")
        if failed is None and limit and seconds > limit and self._caller.counts("timeout"):
            message = f"took {seconds:.1f} s, and {limit:g} s are allowed"
            failed = self._check_failure("timeout", "Timeout", message)
        result = failed or {"status": "passed"}
        return {**result, "mutated": changed(before, self._arguments), "seconds": seconds}

    def _returned_value(self) -> Any:
        place = self._place
        if place.kind == "property":
            return consume(place.function(*self._first))
        if place.kind == "constructor":
            return call_function(place.owner, self._arguments)
        if calls_instance(place):
            show_full_tracebacks()
            return consume(call_instance(self._first[0], place.function, self._arguments))
        return consume(call_function(place.function, self._arguments, *self._first))

    def _failure_of_exception(self, error: Exception) -> dict[str, Any] | None:
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
        # A documented `Exception` covers just that class, or else it would cover every defect.
        kinds = [base for base in type(error).__mro__ if base not in _EVERY_ERROR]
        return any(kind.__name__ in documented for kind in kinds or [type(error)])

    def _failed_result_check(
        self, returned: Any, *, expects_numbers: bool
    ) -> dict[str, Any] | None:
        if self._caller.counts("ensure"):
            for condition in self._caller.conditions(self._place.name, "ensures"):
                failed = self._failed_postcondition(condition, returned)
                if failed is not None:
                    return failed
        if expects_numbers and self._caller.counts("nan") and has_nan(returned):
            message = "the result has NaN, and all arguments are finite and small"
            return self._check_failure("nan", "NaN", message)
        return None

    def _failed_postcondition(
        self, condition: CallableCondition, returned: Any
    ) -> dict[str, Any] | None:
        text = condition.shown
        try:
            holds = condition.holds({**self._condition_scope(), RESULT: returned})
            message = f"{text} does not hold"
        except Exception as error:  # noqa: BLE001 - such as an attribute that None lacks
            holds, message = False, f"{text}: {type(error).__name__}: {error}"
        if holds:
            return None
        return self._check_failure("ensure", "Postcondition", message, condition.line)

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

    def _check_failure(
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
