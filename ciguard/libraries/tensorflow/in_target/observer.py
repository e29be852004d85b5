"""Observation of TensorFlow's eager operations, with their inputs and attributes."""

from __future__ import annotations

import contextlib
import importlib
from typing import TYPE_CHECKING, Any

from ciguard.libraries.in_target.observed import NamedArgument

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


@contextlib.contextmanager
def observing(
    dtypes: dict[int, str], note: Callable[[str, dict[str, Any]], None]
) -> Iterator[None]:
    """Note all operations that run eagerly in the context, also those of gradients.

    Args:
        dtypes: names of the dtypes by TensorFlow's numbers.
        note: is called with the name of each operation, and its inputs and attributes by name.
    """
    callbacks: Any = importlib.import_module("tensorflow.python.framework.op_callbacks")
    registry: Any = importlib.import_module("tensorflow.python.framework.op_def_registry")

    def callback(
        op_type: str, inputs: Sequence[Any], attrs: Any, outputs: Any, *_: Any, **others: Any
    ) -> None:
        del outputs
        definition = registry.get(op_type)
        if definition is None or others.get("graph") is not None:
            return
        attributes = dict(zip(attrs[::2], attrs[1::2])) if attrs else {}
        with contextlib.suppress(KeyError, StopIteration):
            arguments = _arguments(definition, list(inputs), attributes)
            note(definition.name, {**arguments, **_attributes(definition, attributes, dtypes)})

    callbacks.add_op_callback(callback)
    try:
        yield
    finally:
        callbacks.remove_op_callback(callback)


def _arguments(definition: Any, inputs: list[Any], attributes: dict[str, Any]) -> dict[str, Any]:
    """Return the inputs by name: a list for an input of several tensors.

    Raises:
        KeyError: if the number of tensors is unknown.
        StopIteration: if there are fewer inputs than defined.
    """
    rest = iter(inputs)
    arguments: dict[str, Any] = {}
    for item in definition.input_arg:
        if item.number_attr:
            arguments[item.name] = [next(rest) for _ in range(attributes[item.number_attr])]
        elif item.type_list_attr:
            arguments[item.name] = [next(rest) for _ in attributes[item.type_list_attr]]
        else:
            arguments[item.name] = next(rest)
    return arguments


def _attributes(
    definition: Any, attributes: dict[str, Any], dtypes: dict[int, str]
) -> dict[str, Any]:
    """Return the attributes that callers pass, with dtypes by name; inputs imply the others."""
    implied = {
        name
        for item in definition.input_arg
        for name in (item.type_attr, item.number_attr, item.type_list_attr)
    }
    passed: dict[str, Any] = {}
    for item in definition.attr:
        if item.name in implied or item.name not in attributes:
            continue
        value = attributes[item.name]
        if item.type == "type":
            value = NamedArgument("y", dtypes[int(value)])
        elif item.type == "list(type)":
            value = [NamedArgument("y", dtypes[int(number)]) for number in value]
        elif item.type == "string" and isinstance(value, bytes):
            value = value.decode("utf-8", "replace")
        elif item.type == "shape":
            value = _shape(value)
        passed[item.name] = value
    return passed


def _shape(value: Any) -> Any:
    """Return the sizes of a shape; None if its rank is unknown."""
    sizes = getattr(value, "dims", value)
    return sizes if sizes is None else [getattr(size, "value", size) for size in sizes]


def with_gradients(
    tensorflow: Any,
    run: Callable[[Callable[..., Any], list[Any]], Any],
    function: Callable[..., Any],
    tensors: list[Any],
) -> Any:
    """Return the result of a function, and the gradient of its sum for each tensor."""
    with tensorflow.GradientTape() as tape:
        for tensor in tensors:
            tape.watch(tensor)
        result = run(function, tensors)
        parts = [
            part
            for part in tensorflow.nest.flatten(result)
            if isinstance(part, tensorflow.Tensor)
            and (part.dtype.is_floating or part.dtype.is_complex)
        ]
    gradients = tape.gradient(parts, tensors) if parts else [None] * len(tensors)
    return [result, gradients]
