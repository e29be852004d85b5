"""Inputs of a Keras layer in a graph: tensors as separate arguments or as one list."""

from __future__ import annotations

import inspect
from typing import Any, Mapping, Sequence

from ciguard.libraries.keras.in_target.configs import NotDataError


def tensors_of(call: Any, *, of_model: bool = False) -> tuple[list[Any], bool]:
    """Return the symbolic tensors of a call in order, and whether they were passed as one list.

    Masks that Keras passed automatically are left out, since Keras passes them again.

    Args:
        call: Keras's node of the call.
        of_model: True if a model was called, which also accepts a dictionary of tensors.

    Raises:
        NotDataError: if the call depends on arguments that are not tensors.
    """
    signature = inspect.signature(call.operation.call)
    arguments = dict(signature.bind(*call.arguments.args, **call.arguments.kwargs).arguments)
    first = next(iter(signature.parameters))
    if _is_tensor(arguments.get(first)):
        tensors, as_list = _pop_leading_tensors(arguments, signature.parameters), False
    else:
        tensors, as_list = _tensor_list(arguments.pop(first, None), of_model=of_model), True
    masks = [getattr(tensor, "_keras_mask", None) for tensor in tensors]
    for name, value in arguments.items():
        if _is_mask(name) and all(_is_known_mask(mask, masks) for mask in _as_list(value)):
            continue
        if not _has_no_effect(name, value, signature.parameters[name].default):
            message = (
                f"the layer is called with {name}={value!r:.60}, but a seed can contain "
                "only calls with positional tensors"
            )
            raise NotDataError(message)
    return tensors, as_list


def creator(tensor: Any) -> Any:
    """Return Keras's node of the call that returned a symbolic tensor."""
    history = tensor._keras_history  # noqa: SLF001 - Keras has no public access to the graph
    return history.operation._inbound_nodes[history.node_index]  # noqa: SLF001 - Keras has no public access to the graph


def _is_tensor(value: Any) -> bool:
    return hasattr(value, "_keras_history")


def _pop_leading_tensors(arguments: dict[str, Any], parameters: Mapping[str, Any]) -> list[Any]:
    """Remove the leading tensors from the arguments and return them."""
    tensors = []
    for name in parameters:
        if not _is_tensor(arguments.get(name)) or _is_mask(name):
            break
        tensors.append(arguments.pop(name))
    return tensors


def _tensor_list(value: Any, *, of_model: bool) -> list[Any]:
    if of_model and isinstance(value, dict):
        value = [value[key] for key in sorted(value)]  # Keras's own order of flattening
    if not isinstance(value, (list, tuple)) or not all(map(_is_tensor, value)):
        message = (
            f"the layer is called with {value!r:.60}, but a seed can contain only calls with "
            "tensors or one list of tensors"
        )
        raise NotDataError(message)
    return list(value)


def _has_no_effect(name: str, value: Any, default: Any) -> bool:
    """Return whether an argument has its default value, is None, or is `training=False`.

    Levels pass `training=False` to every layer anyway, except in a training step.
    """
    if value is None or (name == "training" and value is False):
        return True
    return not _is_tensor(value) and value is default


def _is_mask(name: str) -> bool:
    return name == "mask" or name.endswith("_mask")


def _as_list(value: Any) -> Sequence[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, (list, tuple)) else [value]


def _is_known_mask(mask: Any, masks: Sequence[Any]) -> bool:
    """Return whether a mask is equivalent to one that Keras passes along with the tensors."""
    return mask is None or any(_is_equivalent(mask, other) for other in masks)


def _is_equivalent(first: Any, second: Any) -> bool:
    """Return whether two symbolic tensors are computed in the same way from the same layers.

    A loaded model has the masks in its file, and equivalent masks that Keras computes again.
    """
    if first is second:
        return True
    if isinstance(first, (list, tuple)) and isinstance(second, (list, tuple)):
        return len(first) == len(second) and all(map(_is_equivalent, first, second))
    if not (_is_tensor(first) and _is_tensor(second)):
        return not _is_tensor(first) and not _is_tensor(second) and bool(first == second)
    call, other_call = creator(first), creator(second)
    if hasattr(call.operation, "weights") or type(call.operation) is not type(other_call.operation):
        return False
    return _is_equivalent(call.arguments.args, other_call.arguments.args) and (
        call.arguments.kwargs.keys() == other_call.arguments.kwargs.keys()
        and all(
            _is_equivalent(call.arguments.kwargs[key], other_call.arguments.kwargs[key])
            for key in call.arguments.kwargs
        )
    )
