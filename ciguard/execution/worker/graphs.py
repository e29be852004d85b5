"""Cases of level `graph`: graphs as functions of their tensors, and runs that probe graphs.

A graph is written as a user would write it: a function with one call per line. Its parameters are
the graph's tensors, all other arguments are constants, and layers are built before.
"""

from __future__ import annotations

import contextlib
import keyword
import linecache
import math
import re
from typing import Any, Callable, Iterator

import numpy as np

from ciguard.execution.worker.summarise import COMPACT

FILE = "<a graph>"
READ, ASSIGN = "__getitem__", "__setitem__"
"""Names of the methods that are written `tensor[index]` and `tensor[index] = value`."""
_SLICE = ["c", "builtins.slice"]
_ELLIPSIS = ["m", "builtins.Ellipsis"]
UNUSABLE = "unusable"
"""Result of a step in a probe that is not a tensor of moderate numbers, or is not repeatable."""
_LITERALS = (bool, int, str, type(None))
_FIRST_LINE = 2
"""Line of the first step in the text of a graph."""
_MAX_NUMBER = 1e6
"""Maximum magnitude of the numbers in a result that later steps of a probed graph may use. A
conversion to an integer beyond its range has no defined result."""
_MAX_RESULT_BYTES = 1 << 16
_LINE = re.compile(rf'(?:File "{re.escape(FILE)}", line |{re.escape(FILE)}:)(\d{{1,6}})')


class Graph:
    """One graph as a function, written and compiled from its JSON form."""

    def __init__(
        self,
        case: dict[str, Any],
        builder: Any,
        adapter: Any,
        change: Callable[[Any], Any] | None = None,
    ) -> None:
        """Build the tensors, constants and layers of a graph.

        Args:
            case: third member of the JSON form of a `ciguard.domain.graphs.GraphCase`.
            builder: the worker's builder of values.
            adapter: adapter of the library.
            change: changes each tensor, if it is given.
        """
        self._change = change
        self._builder = builder
        self.adapter = adapter
        self.case = case
        self._is_wide = bool(case.get("wide"))
        self.scope: dict[str, Any] = {"__name__": "a_graph"}
        self.tensors: list[Any] = []
        """Arguments of the function."""
        self.missing: set[int] = set()
        """Steps without a result; later steps use the tensors of their forms."""
        self._writers: dict[str, Callable[[list[Any]], str]] = {
            "r": self._result,
            "t": self._parameter,
            "l": lambda encoded: f"[{', '.join(self._texts(encoded[1]))}]",
            "p": self._tuple,
            "d": self._dictionary,
        }

    def function(self, case: dict[str, Any]) -> Callable[..., Any]:
        """Return the function of the tensors that returns the outputs."""
        lines = [self.statement(number, step) for number, step in enumerate(case["steps"])]
        outputs = [self._returned(number) for number in case["outputs"]]
        returned = outputs[0] if len(outputs) == 1 else f"({', '.join(outputs)},)"
        parameters = ", ".join(f"x{number}" for number in range(len(self.tensors)))
        body = "".join(f"    {line}\n" for line in lines)
        source = f"def graph({parameters}):\n{body}    return {returned}\n"
        linecache.cache[FILE] = (len(source), None, source.splitlines(keepends=True), FILE)
        exec(compile(source, FILE, "exec"), self.scope)  # noqa: S102 - names of ours, and literals
        function: Callable[..., Any] = self.scope["graph"]
        return function

    def _returned(self, number: int) -> str:
        """Return the expression of an output."""
        if not self.case.get("copies"):
            return f"v{number}"
        self.scope["copied"] = self.adapter.copied
        return f"copied(v{number})"

    def statement(self, number: int, step: list[Any]) -> str:
        """Return the statement that binds the result of a step."""
        if step[0] == "t":
            return f"v{number} = {self._parameter(step)}"
        api, kind, arguments, keywords, inputs = step
        if kind == "layer":
            build = self._builder
            layer = self.adapter.make_layer(
                build.member(api), build.values(arguments), build.keywords(keywords)
            )
            callee, texts = self._constant(self._widened(layer)), self._texts(inputs)
            return f"v{number} = {callee}({', '.join(texts)})"
        name = api.rpartition(".")[2]
        if kind == "method" and name in {READ, ASSIGN}:
            return self._subscript(number, *arguments)
        texts = self._texts(arguments)
        for key, value in keywords:
            is_name = key.isidentifier() and not keyword.iskeyword(key)
            text = self._text(value)
            texts.append(f"{key}={text}" if is_name else f"**{{{key!r}: {text}}}")
        if kind == "method":
            callee = f"{texts.pop(0)}.{name}"
        else:
            callee = self._constant(self._builder.member(api))
        return f"v{number} = {callee}({', '.join(texts)})"

    def _subscript(self, number: int, owner: Any, index: Any, *values: Any) -> str:
        """Return the statement that reads elements, or assigns a value to them."""
        tensor = self._text(owner)
        is_tuple = type(index) is list and index[0] == "p" and index[1]
        items = ", ".join(map(self._index_item, index[1] if is_tuple else [index]))
        element = f"{tensor}[{items}]"
        if not values:
            return f"v{number} = {element}"
        (value,) = values
        return f"{element} = {self._text(value)}; v{number} = {tensor}"

    def _index_item(self, encoded: Any) -> str:
        """Return the text of an item of an index; tracers know slices only in this form."""
        if encoded == _ELLIPSIS:
            return "..."
        if type(encoded) is list and encoded[:2] == _SLICE:
            bounds = ["" if bound is None else self._text(bound) for bound in encoded[2]]
            return ":".join(bounds)
        return self._text(encoded)

    def _texts(self, values: list[Any]) -> list[str]:
        return [self._text(value) for value in values]

    def _text(self, encoded: Any) -> str:
        """Return the source text of a value in JSON form."""
        if type(encoded) is not list:
            return self._literal(encoded)
        write = self._writers.get(encoded[0])
        if write is not None:
            return write(encoded)
        return self._literal(self._widened(self._builder.value(encoded)))

    def _result(self, encoded: list[Any]) -> str:
        _, step, item, form, *choice = encoded
        if step in self.missing:
            return self._parameter(form)
        text = f"v{step}" if item < 0 else f"v{step}[{item}]"
        if not choice or choice[0][1] in self.missing:
            return text
        other, beyond = choice
        return f"({text} if {text}.shape[0] <= {beyond:d} else {self._result(other)})"

    def _tuple(self, encoded: list[Any]) -> str:
        return f"({''.join(f'{text}, ' for text in self._texts(encoded[1]))})"

    def _dictionary(self, encoded: list[Any]) -> str:
        items = ", ".join(f"{key!r}: {self._text(item)}" for key, item in encoded[1])
        return f"{{{items}}}"

    def _literal(self, value: Any) -> str:
        if type(value) in _LITERALS or (type(value) is float and math.isfinite(value)):
            return repr(value)
        return self._constant(value)

    def _parameter(self, encoded: list[Any]) -> str:
        name = f"x{len(self.tensors)}"
        value = self._widened(self._builder.value(encoded))
        layout = self.case.get("layout")
        value = self.adapter.laid_out(value, layout) if layout else value
        self.scope[name] = self._change(value) if self._change is not None else value
        self.tensors.append(self.scope[name])
        return name

    def _constant(self, value: Any) -> str:
        name = f"c{len(self.scope)}"
        self.scope[name] = value
        return name

    def _widened(self, value: Any) -> Any:
        return self.adapter.widened(value) if self._is_wide else value


def second_kind(case: dict[str, Any], adapter: Any) -> Callable[[Any], Any] | None:
    """Return what changes a tensor for a graph's second run; None if it runs once."""
    if case.get("grows"):
        change: Callable[[Any], Any] = adapter.grown
        return change
    return adapter.flipped if case.get("mapped") else None


def precision_of(case: dict[str, Any], adapter: Any) -> Any:
    """Return the context for a graph's precision, to be entered after the adapter's reset."""
    if case.get("wide"):
        return adapter.widening()
    if case.get("autocast"):
        return adapter.autocasting(case["autocast"])
    return contextlib.nullcontext()


def division_of(case: dict[str, Any]) -> Any:
    """Return the context in which numpy raises an error for a division by 0, if a case asks so."""
    return np.errstate(divide="raise") if case.get("divides") else contextlib.nullcontext()


def changes_tensors(case: dict[str, Any]) -> bool:
    """Return whether a step may change a tensor in place: by the name of its API, or by `out`."""
    return any(_changes_tensor(step) for step in case["steps"] if step[0] != "t")


def _changes_tensor(step: list[Any]) -> bool:
    name = step[0].rpartition(".")[2]
    is_named = name == ASSIGN or (name.endswith("_") and not name.endswith("__"))
    return is_named or any(key == "out" for key, _ in step[3])


def step_of(error: BaseException) -> str:
    """Return the place of an error, such as `step 3: `; empty if no step is known.

    A compiler names the line in its message, and an eager run in its traceback. The first line is
    that of the whole graph.
    """
    lines = _lines_in_message(error)
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == FILE:
            lines.append(trace.tb_lineno)
        trace = trace.tb_next
    steps = [line - _FIRST_LINE for line in lines if line >= _FIRST_LINE]
    return f"step {steps[0]}: " if steps else ""


def _lines_in_message(error: BaseException) -> list[int]:
    try:
        return [int(number) for number in _LINE.findall(str(error))]
    except Exception:  # noqa: BLE001 - a library's __str__ may fail
        return []


def probe(case: dict[str, Any], builder: Any, adapter: Any, summariser: Any) -> bytes:
    """Run the steps of a graph one by one, twice, and return the text of a list of their results.

    The result of a step that failed is the name of the exception's class, and that of one which
    later steps must not use is `UNUSABLE`. A second run with another seed finds random results, and
    a third one the steps that do not take the other tensors, if the case runs with two kinds.
    """
    seed = case.get("seed", 0)
    is_usable = _is_usable_special if case.get("special") else _is_usable
    first, again, *others = (
        _probe_once(graph, case["steps"], summariser, reset, is_usable)
        for graph, reset in _probed_graphs(case, builder, adapter, seed)
    )
    trees = [
        tree if tree == other or tree[0] == "s" else ["s", UNUSABLE]
        for tree, other in zip(first, again)
    ]
    for changed in others:
        trees = [tree if other[0] != "s" else other for tree, other in zip(trees, changed)]
    return COMPACT.encode(["L", "list", trees, len(trees)]).encode("ascii")


def _probed_graphs(
    case: dict[str, Any], builder: Any, adapter: Any, seed: int
) -> Iterator[tuple[Graph, int]]:
    """Yield the graphs that a probe runs, each with its seed."""
    yield Graph(case, builder, adapter), seed
    yield Graph(case, builder, adapter), seed + 1
    change = second_kind(case, adapter)
    if change is not None:
        yield Graph(case, builder, adapter, change), seed


def _probe_once(
    graph: Graph,
    steps: list[Any],
    summariser: Any,
    seed: int,
    is_usable: Callable[[Any, Any], bool],
) -> list[Any]:
    """Return the JSON tree of each step's result, read before a later step can change it."""
    adapter = graph.adapter
    adapter.reset(seed)
    with precision_of(graph.case, adapter):
        return list(_probed_steps(graph, steps, summariser, is_usable))


def _probed_steps(
    graph: Graph, steps: list[Any], summariser: Any, is_usable: Callable[[Any, Any], bool]
) -> Iterator[list[Any]]:
    adapter = graph.adapter
    for number, step in enumerate(steps):
        tree = ["s", UNUSABLE]
        try:
            code = compile(graph.statement(number, step), FILE, "exec")
            exec(code, graph.scope)  # noqa: S102 - names of ours, and literals
            result = graph.scope[f"v{number}"]
            if is_usable(result, adapter):
                tree = summariser.tree(result, 0)
        except Exception as error:  # noqa: BLE001 - whatever the library raises
            tree = ["s", type(error).__name__]
        if tree[0] == "s":
            graph.missing.add(number)
        yield tree


def _is_usable(value: Any, adapter: Any) -> bool:
    """Return whether a result is one or several dense tensors of moderate numbers."""
    if isinstance(value, (list, tuple)):
        return bool(value) and all(_is_usable(item, adapter) for item in value)
    array = _small_array(value, adapter)
    if array is None:
        return False
    if array.dtype.kind == "b" or not array.size:
        return True
    if array.dtype.kind not in "iufc":
        return False
    return bool(np.abs(array.astype(np.complex128)).max() <= _MAX_NUMBER)  # False for NaN


def _is_usable_special(value: Any, adapter: Any) -> bool:
    """Return whether a result is one or several dense tensors of real numbers or truth values.

    Integers that are made of NaN or infinities have no defined value. No elements are always right.
    """
    if isinstance(value, (list, tuple)):
        return bool(value) and all(_is_usable_special(item, adapter) for item in value)
    array = _small_array(value, adapter)
    return array is not None and (array.dtype.kind in "bf" or not array.size)


def _small_array(value: Any, adapter: Any) -> Any:
    """Return the elements of a dense tensor; None if there are too many or they are unreadable."""
    content = adapter.read(value)
    array = None if content is None else content.get("array")
    return None if array is None or array.nbytes > _MAX_RESULT_BYTES else array
