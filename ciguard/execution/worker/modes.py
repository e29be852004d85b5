"""Execution of cases in a mode, which traces or compiles a function of the case's tensors.

The call is written as a function, as a user would write it: tensors are its parameters, and all
other arguments are constants. A layer that is called with tensors already is such a function. The
function is traced or compiled for each case.
"""

from __future__ import annotations

import keyword
import linecache
import math
from typing import Any, Callable

from ciguard.execution.worker import cell as cells
from ciguard.execution.worker.loop import Executor, encoded_text
from ciguard.libraries.in_target import contract

_FILE = "<a call in a mode>"
_LITERALS = (bool, int, str, type(None))


class ModeExecutor(Executor):
    """Runs the calls of one adapter in one of its modes."""

    def __init__(self, adapter: Any, mode: str, *, on_device: bool = False) -> None:
        super().__init__(adapter, on_device=on_device)
        self._run = adapter.modes()[mode]
        self._stages = adapter.stages(mode)
        self._options = adapter.options(mode)

    def _execute(self, case: list[Any]) -> tuple[int, bytes]:
        api, kind, arguments, keywords, inputs, seed = case[:6]
        builder = self._builder
        try:
            self._adapter.reset(seed)
            positional = builder.values(arguments)
            named = builder.keywords(keywords)
            layer_inputs = builder.values(inputs)
            function = api.rpartition(".")[2] if kind == "method" else builder.member(api)
        except Exception as error:  # noqa: BLE001 - whatever a library raises while an argument is made
            return self._raised(error, unbuilt=True)
        try:
            if kind == "layer":
                layer = self._adapter.make_layer(function, positional, named)
                function, positional, named = layer, layer_inputs, {}
                if not inputs:
                    return cells.PASSED, self._summariser.encode(function)
                self._adapter.build_layer(function, layer_inputs)
            tensors = positional
            if kind != "layer" or not all(map(self._is_input, positional)):
                call = TensorCall(self._is_input)
                function, tensors = call.function(function, positional, named), call.tensors
            return cells.PASSED, self._summariser.encode(self._run(function, tensors))
        except BaseException as error:  # noqa: BLE001 - SystemExit included: it is the case's outcome
            return self._raised(error, unbuilt=False)

    def _run_graph(self, function: Any, tensors: list[Any], stage: str, options: str) -> Any:
        """Return the outputs of a graph that is compiled up to a stage, or wholly if it is empty.

        Raises:
            KeyError: if the mode has no such stage or options.
        """
        if stage:
            return self._stages[stage](function, tensors)
        run = self._options[options] if options else self._run
        return run(function, tensors)

    def _run_mapped(
        self, run: Any, function: Any, tensors: list[Any], others: list[Any]
    ) -> list[Any]:
        results: list[Any] = self._adapter.run_mapped(run, function, tensors, others)
        return results

    def _is_input(self, value: Any) -> bool:
        """Return whether a value becomes a parameter: a tensor that is not the result of a call."""
        return self._adapter.is_tensor(value) and not self._builder.is_call_result(value)

    def _error_text(self, error: BaseException) -> str:
        message: str = self._adapter.message(error)
        return message

    def _raised(self, error: BaseException, *, unbuilt: bool, where: str = "") -> tuple[int, bytes]:
        is_lost = self._on_device and self._adapter.classify(error) == contract.LOST
        if not unbuilt and not is_lost and self._adapter.cannot_express(error):
            message = where + self._message(error)
            return cells.INEXPRESSIBLE, encoded_text([type(error).__name__, message])
        return super()._raised(error, unbuilt=unbuilt, where=where)


class TensorCall:
    """Writes one call as a function of its tensors."""

    def __init__(self, is_input: Callable[[Any], bool]) -> None:
        self._is_input = is_input
        self._scope: dict[str, Any] = {"__name__": "call_in_a_mode"}
        self.tensors: list[Any] = []
        """Arguments of the function."""

    def function(
        self, called: Any, arguments: list[Any], keywords: dict[str, Any]
    ) -> Callable[..., Any]:
        """Return the function.

        Args:
            called: callable object, or the name of a method of the first argument.
            arguments: live positional arguments.
            keywords: live keyword arguments.
        """
        texts = [self._text(argument) for argument in arguments]
        for key, value in keywords.items():
            is_name = key.isidentifier() and not keyword.iskeyword(key)
            text = self._text(value)
            texts.append(f"{key}={text}" if is_name else f"**{{{key!r}: {text}}}")
        name = f"{texts.pop(0)}.{called}" if isinstance(called, str) else self._constant(called)
        parameters = ", ".join(f"x{number}" for number in range(len(self.tensors)))
        source = f"def call({parameters}):\n    return {name}({', '.join(texts)})\n"
        linecache.cache[_FILE] = (len(source), None, source.splitlines(keepends=True), _FILE)
        exec(compile(source, _FILE, "exec"), self._scope)  # noqa: S102 - names of ours, and literals
        function: Callable[..., Any] = self._scope["call"]
        return function

    def _text(self, value: Any) -> str:
        if type(value) is list:
            return f"[{', '.join(map(self._text, value))}]"
        if type(value) is tuple:
            return f"({''.join(self._text(item) + ', ' for item in value)})"
        if type(value) is dict:
            items = ", ".join(f"{key!r}: {self._text(item)}" for key, item in value.items())
            return f"{{{items}}}"
        if type(value) in _LITERALS or (type(value) is float and math.isfinite(value)):
            return repr(value)
        if self._is_input(value):
            self.tensors.append(value)
            return f"x{len(self.tensors) - 1}"
        return self._constant(value)

    def _constant(self, value: Any) -> str:
        name = f"c{len(self._scope)}"
        self._scope[name] = value
        return name
