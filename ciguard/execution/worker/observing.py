"""Observation of the operators that a call runs, with their arguments as values.

A case `[api, OBSERVED, case]` runs `case` and the gradient of its result. Its result is a list of
`[operator, {name: value}]`. Libraries document few of their operators, but call them with valid
arguments.
"""

from __future__ import annotations

import json
import math
from typing import Any, Callable

from ciguard.execution.worker import cell as cells
from ciguard.execution.worker.loop import Executor, encoded_text
from ciguard.execution.worker.modes import TensorCall
from ciguard.libraries.in_target.observed import MadeTensor, NamedArgument

OBSERVED = "observed"
"""Second member of a case whose operators are observed."""

_MAX_RECORDS = 48
_MAX_PER_OPERATOR = 2
_MAX_LENGTH = 1500
"""Maximum length of one operator's arguments as JSON, in characters."""
_MAX_ELEMENTS = 4096
_MAX_EXPLICIT = 48
"""Maximum number of integers that are listed; others are drawn from their range."""
_MAX_MAGNITUDE = 1e30
_FILL_SEED = 7
_SCALARS = (bool, int, str, type(None))


class _UnencodableError(Exception):
    """An argument has no form as a value."""


class OperatorLog:
    """Records operators with their arguments, each operator a few times."""

    def __init__(self, adapter: Any) -> None:
        self._read = adapter.read
        self._counts: dict[str, int] = {}
        self.records: list[list[Any]] = []
        """Name and arguments by name of each operator, in the order of the calls."""

    def note(self, operator: str, arguments: dict[str, Any]) -> None:
        """Record a call of an operator with live arguments, unless they cannot be encoded."""
        count = self._counts.get(operator, 0)
        if count >= _MAX_PER_OPERATOR or len(self.records) >= _MAX_RECORDS:
            return
        try:
            encoded = {name: self._encoded(value) for name, value in arguments.items()}
        except _UnencodableError:
            return
        if len(json.dumps(encoded)) <= _MAX_LENGTH:
            self._counts[operator] = count + 1
            self.records.append([operator, encoded])

    def _encoded(self, value: Any) -> Any:
        """Return the JSON form of a `ciguard.domain.values.Value`.

        Raises:
            _UnencodableError: if there is none.
        """
        if type(value) in (*_SCALARS, float, bytes):
            return _encoded_scalar(value)
        if isinstance(value, NamedArgument):
            return [value.tag, value.name]
        if isinstance(value, MadeTensor):
            return ["c", value.function, [self._encoded(value.argument)], []]
        if isinstance(value, (list, tuple)):
            return ["l", [self._encoded(item) for item in value]]
        return self._encoded_tensor(self._read(value))

    def _encoded_tensor(self, content: Any) -> Any:
        array = None if content is None else content.get("array")
        if array is None or array.size > _MAX_ELEMENTS:
            raise _UnencodableError
        return ["t", content["dtype"], list(array.shape), _fill(array)]


def _encoded_scalar(value: Any) -> Any:
    if type(value) is float and not math.isfinite(value):
        return ["f", repr(value)]
    return ["b", value.decode("latin-1")] if type(value) is bytes else value


def _fill(array: Any) -> list[Any]:
    """Return a fill for elements like those of an array; small integers are kept exactly."""
    kind = array.dtype.kind
    if not array.size:
        return ["k", 0]
    if kind in "iub":
        if array.size <= _MAX_EXPLICIT:
            return ["x", array.reshape(-1).tolist()]
        return ["u", _FILL_SEED, float(array.min()), float(array.max())]
    if kind == "f":
        low, high = float(array.min()), float(array.max())
        if max(abs(low), abs(high)) < _MAX_MAGNITUDE:  # false for NaN
            return ["u", _FILL_SEED, low, high]
    return ["u", _FILL_SEED, -1.0, 1.0]


class ObservingExecutor(Executor):
    """Runs cases, and observes the operators of those that ask for it."""

    def _record(self, case: list[Any]) -> tuple[int, bytes]:
        if case[1] != OBSERVED:
            return super()._record(case)
        try:
            records = observe(case[2], self._builder, self._adapter)
        except Exception as error:  # noqa: BLE001 - whatever a library raises while an argument is made
            return self._raised(error, unbuilt=True)
        return cells.PASSED, encoded_text(records)


def observe(case: list[Any], builder: Any, adapter: Any) -> list[Any]:
    """Run a call and its gradient, and return the operators that ran.

    Args:
        case: JSON form of a call, see `ciguard.domain.api_calls`.
        builder: builder of the case's objects.
        adapter: adapter of the library.

    Raises:
        NotImplementedError: if the library's operators cannot be observed.
        Exception: any exception of the library, if an argument cannot be built.
    """
    api, kind, arguments, keywords, inputs, seed = case[:6]
    adapter.reset(seed)
    positional, named = builder.values(arguments), builder.keywords(keywords)
    function = api.rpartition(".")[2] if kind == "method" else builder.member(api)
    log = OperatorLog(adapter)
    with adapter.observing(log.note):
        try:
            if kind == "layer":
                function = adapter.make_layer(function, positional, named)
                positional, named = builder.values(inputs), {}
            _run(function, positional, named, adapter)
        except Exception:  # noqa: BLE001 - operators that ran before the call failed are valid
            return log.records
    return log.records


def _run(function: Any, positional: list[Any], named: dict[str, Any], adapter: Any) -> None:
    call = TensorCall(adapter.is_tensor)
    of_tensors: Callable[..., Any] = call.function(function, positional, named)
    try:
        adapter.with_gradients(lambda run, tensors: run(*tensors), of_tensors, call.tensors)
    except NotImplementedError:
        of_tensors(*call.tensors)
