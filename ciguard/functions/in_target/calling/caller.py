"""Calls annotated functions in the process that imported their module, and returns the results.

Runs in a target's interpreter: standard library only, Python 3.9 and later. The host that started
the process handles its crashes, hangs and exits.
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
from ciguard.functions.in_target.calling.wrapped_errors import original_message
from ciguard.functions.in_target.describing.conditions import RESULT, CallableCondition
from ciguard.functions.in_target.describing.locations import (
    FunctionLocation,
    is_abstract,
    is_called_through_instance,
)
from ciguard.functions.in_target.describing.module import Description
from ciguard.functions.in_target.describing.nesting import Capture
from ciguard.functions.in_target.describing.notes import documented_exceptions, notes_on

Json = Any

ORACLES = frozenset(("exception", "ensure", "nan", "timeout"))
"""Kinds of failures that count by default.

Changed arguments (kind `mutation`) are always listed in results, but count only on request.
"""


class Caller:
    """Calls the annotated functions of one imported module.

    Args:
        module: the imported module.
        oracles: kinds of failures that count.
        description: description of the module; None to describe the module here.
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
        """Return value of the last call, or the exception that it raised.

        A lazy result is a list of its first items.
        """

    def run(self, call: Json) -> dict[str, Any]:
        """Make a call and return its result.

        Args:
            call: JSON form of `functions.specs.Call`; its optional key `seed` seeds the random
                generators, by default with 0.

        Returns:
            A dictionary whose key `status` decides which other keys it has:

            - `passed`: `raised`, if the call raised a documented exception.
            - `discarded`, because a precondition does not hold: `reason`.
            - `no-instance`, as the instance or an argument cannot be built: `reason`, `frames`.
            - `failed`: `kind`, `type`, `message`, `frames`, `key`.

            If the call was made, `mutated` (names of changed arguments) and `seconds` are added.
        """
        return _CallRun(self, call).result()

    def describe_nested(self, call: Json) -> Json:
        """Make a call, and describe the annotated functions that it defines.

        Args:
            call: JSON form of a call of a function that defines others (key `nested`).

        Returns:
            `{"functions": […], "problems": […]}`: descriptions of the functions, and errors in
            their annotations. Both lists are empty if the call fails before it defines a function.
        """
        captured = self._captured_functions(call)
        return self.description.describe_nested(captured, call["function"])

    def find_nested_function(self, call: Json) -> FunctionLocation:
        """Call the outer function, and return the location of the nested function that it defines.

        Args:
            call: JSON form of a call of a nested function.

        Raises:
            CannotBuildError: if the outer function does not define the nested function.
        """
        self.describe_nested(call["outer"])
        name = call["function"]
        for key in ("requires", "ensures"):
            self._conditions.pop((name, key), None)  # conditions of an earlier call's closure
        if name not in self.description.locations:
            msg = f"{call['outer']['function']} does not define {name} in this call"
            raise CannotBuildError(msg)
        return self.location(name)

    def find_module_function(self, call: Json) -> FunctionLocation:
        """Return the location of a call's function, which the module itself defines."""
        return self.location(call["function"])

    def _captured_functions(self, call: Json) -> dict[str, Any]:
        with Capture(self._file) as capture:
            _CallRun(self, call).result()
        return capture.functions

    def location(self, name: str) -> FunctionLocation:
        """Return the location of a function.

        Raises:
            KeyError: if the module has no function of that name.
        """
        return self.description.locations[name]

    def conditions(self, name: str, key: str) -> list[CallableCondition]:
        """Return the conditions of a function as callables.

        Args:
            name: name of the function.
            key: `requires` or `ensures`.
        """
        conditions = self._conditions.get((name, key))
        if conditions is None:
            location = self.location(name)
            notes = notes_on(location.function) or {}
            plain = inspect.unwrap(location.function)
            scope = notes.get("scope")
            conditions = [
                CallableCondition(condition, plain, line, scope)
                for condition, line in notes.get(key, ())
            ]
            self._conditions[name, key] = conditions
        return conditions

    def build(self, named: Json) -> dict[str, Any]:
        """Return the arguments of a call by name, from their JSON form."""
        return self._builder.build_named(named)

    @property
    def file(self) -> str:
        """Path of the module's file."""
        return self._file

    def is_oracle_enabled(self, kind: str) -> bool:
        """Return whether failures of a kind count."""
        return kind in self._oracles

    def _choice(self, function: str, argument: str, index: int) -> Any:
        """Return an object of an annotation that has no JSON form."""
        choice = self.description.choices[function, argument][index]
        return private_copy(choice, self.description.module)

    def _generate(self, function: str, arguments: dict[str, Any]) -> Any:
        """Return the value that an annotated function generates for arguments.

        Raises:
            DiscardedError: if a precondition of the function does not hold.
        """
        location = self.location(function.lstrip(":"))
        if not all(
            condition.holds_for(arguments)
            for condition in self.conditions(location.name, "requires")
        ):
            raise DiscardedError(location.name)
        if location.kind == "constructor":
            return call_function(location.owner, arguments)
        first = (location.owner,) if location.kind == "classmethod" else ()
        generated = call_function(location.function, arguments, *first)
        return next(iter(generated)) if inspect.isgenerator(generated) else generated


_EVERY_ERROR = (Exception, BaseException, object)
"""Base classes of all exceptions."""


class _CallRun:
    """One call, from the building of its arguments to the check of its result."""

    def __init__(self, caller: Caller, call: Json) -> None:
        self._caller = caller
        self._call = call
        self._location = FunctionLocation(call["function"], None, "function")
        self._arguments: dict[str, Any] = {}
        self._instance_or_class: tuple[Any, ...] = ()
        """The leading argument: the instance of a method, or the class of a class method."""
        self._constructor_numbers: list[Any] = []
        """Numbers among the constructor's arguments, which may also cause NaN."""

    def result(self) -> dict[str, Any]:
        """Make the call, and return its result as `Caller.run` describes it."""
        self._caller.last = None
        seed(int(self._call.get("seed", 0)))
        try:
            self._build()
            reason = self._unmet_precondition()
        except DiscardedError as error:
            return {"status": "discarded", "reason": f"a precondition of {error} does not hold"}
        except CannotBuildError as error:
            return {"status": "no-instance", "reason": str(error), "frames": []}
        except Exception as error:  # noqa: BLE001 - constructors and generators may raise anything
            reason = f"{type(error).__name__}: {error}"
            return {"status": "no-instance", "reason": reason, "frames": frames_of(error)}
        if reason:
            return {"status": "discarded", "reason": reason}
        return self._judged_call()

    def _build(self) -> None:
        """Find the function, and build the instance and the arguments of the call."""
        is_nested = self._call.get("outer") is not None
        find = self._caller.find_nested_function if is_nested else self._caller.find_module_function
        self._location = find(self._call)
        if is_abstract(self._location):
            msg = f"class {self._location.owner.__name__} is abstract"
            raise CannotBuildError(msg)
        self._arguments = self._caller.build(self._call["arguments"])
        if self._location.kind in ("method", "property"):
            arguments = self._caller.build(self._call["constructor"] or [])
            self._constructor_numbers = [
                value for value in arguments.values() if isinstance(value, (int, float))
            ]
            self._instance_or_class = (call_function(self._location.owner, arguments),)
        elif self._location.kind == "classmethod":
            self._instance_or_class = (self._location.owner,)

    def _condition_scope(self) -> dict[str, Any]:
        """Return the values that conditions may use by name: arguments, defaults and `self`."""
        scope = {}
        for parameter in inspect.signature(self._location.function).parameters.values():
            if parameter.default is not parameter.empty:
                scope[parameter.name] = parameter.default
        scope.update(self._arguments)
        if self._instance_or_class:
            scope["cls" if self._location.kind == "classmethod" else "self"] = (
                self._instance_or_class[0]
            )
        return scope

    def _unmet_precondition(self) -> str:
        """Return the text of a precondition that does not hold; empty if all hold."""
        for condition in self._caller.conditions(self._location.name, "requires"):
            try:
                holds = condition.holds_for(self._condition_scope())
            except Exception as error:  # noqa: BLE001 - the user's condition may raise anything
                return f"{condition.display_text}: {type(error).__name__}: {error}"
            if not holds:
                return condition.display_text
        return ""

    def _judged_call(self) -> dict[str, Any]:
        """Make the call, and return the result of the checks of what it returns or raises."""
        before = snapshot(self._arguments)
        expects_numbers = are_moderate([*self._arguments.values(), *self._constructor_numbers])
        started_s = time.perf_counter()
        try:
            returned = self._caller.last = self._returned_value()
        except Exception as error:  # noqa: BLE001 - the exception is the result of the test
            self._caller.last = error
            return self._with_details(self._failure_of_exception(error), before, started_s)
        except SystemExit as error:
            self._caller.last = error
            failed = None if error.code in (None, 0) else self._failure("exception", error)
            return self._with_details(failed, before, started_s)
        failed = self._failed_result_check(returned, expects_numbers=expects_numbers)
        return self._with_details(failed, before, started_s)

    def _with_details(
        self, failed: dict[str, Any] | None, before: dict[str, Any], started_s: float
    ) -> dict[str, Any]:
        """Return the result of a call, with its changed arguments and its duration.

        Args:
            failed: result of a failed call or check; None if there is no failure so far.
            before: snapshot of the arguments before the call.
            started_s: time when the call started, in seconds of the performance counter.
        """
        seconds = time.perf_counter() - started_s
        limit = (notes_on(self._location.function) or {}).get("timeout")
        if (
            failed is None
            and limit
            and seconds > limit
            and self._caller.is_oracle_enabled("timeout")
        ):
            message = f"took {seconds:.1f} s, and {limit:g} s are allowed"
            failed = self._check_failure("timeout", "Timeout", message)
        result = failed or {"status": "passed"}
        return {**result, "mutated": changed(before, self._arguments), "seconds": seconds}

    def _returned_value(self) -> Any:
        """Make the call, and return what it returns; lazy results are lists."""
        location = self._location
        if location.kind == "property":
            return consume(location.function(*self._instance_or_class))
        if location.kind == "constructor":
            return call_function(location.owner, self._arguments)
        if is_called_through_instance(location):
            show_full_tracebacks()
            return consume(
                call_instance(self._instance_or_class[0], location.function, self._arguments)
            )
        return consume(call_function(location.function, self._arguments, *self._instance_or_class))

    def _failure_of_exception(self, error: Exception) -> dict[str, Any] | None:
        """Return the result for a raised exception; None if such failures do not count."""
        if isinstance(error, MemoryError):
            return {"status": "discarded", "reason": "out of memory"}
        if self._is_expected(error):
            return {"status": "passed", "raised": type(error).__name__}
        return (
            self._failure("exception", error)
            if self._caller.is_oracle_enabled("exception")
            else None
        )

    def _is_expected(self, error: Exception) -> bool:
        """Return whether annotations or documentation allow an exception."""
        declared = tuple((notes_on(self._location.function) or {}).get("raises", ()))
        if isinstance(error, declared):
            return True
        plain = inspect.unwrap(self._location.function)
        documented = documented_exceptions(plain)
        # A documented `Exception` covers only this class: with its subclasses, nothing would fail.
        kinds = [base for base in type(error).__mro__ if base not in _EVERY_ERROR]
        return any(kind.__name__ in documented for kind in kinds or [type(error)])

    def _failed_result_check(
        self, returned: Any, *, expects_numbers: bool
    ) -> dict[str, Any] | None:
        """Return the failure of a postcondition, or for NaN; None if the result is correct."""
        if self._caller.is_oracle_enabled("ensure"):
            for condition in self._caller.conditions(self._location.name, "ensures"):
                failed = self._failed_postcondition(condition, returned)
                if failed is not None:
                    return failed
        if expects_numbers and self._caller.is_oracle_enabled("nan") and has_nan(returned):
            message = "the result has NaN, and all arguments are finite and small"
            return self._check_failure("nan", "NaN", message)
        return None

    def _failed_postcondition(
        self, condition: CallableCondition, returned: Any
    ) -> dict[str, Any] | None:
        """Return the failure of one postcondition; None if it holds."""
        text = condition.display_text
        try:
            holds = condition.holds_for({**self._condition_scope(), RESULT: returned})
            message = f"{text} does not hold"
        except Exception as error:  # noqa: BLE001 - the user's condition may raise anything
            holds, message = False, f"{text}: {type(error).__name__}: {error}"
        if holds:
            return None
        return self._check_failure("ensure", "Postcondition", message, condition.line)

    def _failure(self, kind: str, error: BaseException) -> dict[str, Any]:
        """Return the result for an exception."""
        frames = frames_of(error)
        return {
            "status": "failed",
            "kind": kind,
            "type": type(error).__name__,
            "message": original_message(error),
            "frames": [list(frame) for frame in frames],
            "key": key_of(error, frames, self._caller.file),
        }

    def _check_failure(
        self, kind: str, name: str, message: str, line: int | None = None
    ) -> dict[str, Any]:
        """Return the result for a failed check, at a line of the annotations if it has one."""
        return {
            "status": "failed",
            "kind": kind,
            "type": name,
            "message": message,
            "frames": [] if line is None else [[self._caller.file, line, self._location.name]],
            "key": f"{name} {self._location.name}" + ("" if line is None else f":{line}"),
        }
