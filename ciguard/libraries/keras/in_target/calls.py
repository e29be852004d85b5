"""What a Keras layer was called with in a graph: tensors, one after the other or as one list."""

from __future__ import annotations

import inspect
from typing import Any, Mapping, Sequence

from ciguard.libraries.keras.in_target.configs import NotDataError


def tensors_of(call: Any, *, of_model: bool = False) -> tuple[list[Any], bool]:
    """Return the symbolic tensors of a call in order, and whether they were given as one list.

    A mask that Keras handed on by itself is none of them: it does so again.

    Args:
        call: the node that Keras keeps of the call.
        of_model: whether a model was called, which takes a dictionary as well.

    Raises:
        NotDataError: if anything but tensors decides what the call computes.
    """
    signature = inspect.signature(call.operation.call)
    given = dict(signature.bind(*call.arguments.args, **call.arguments.kwargs).arguments)
    first = next(iter(signature.parameters))
    if _is_tensor(given.get(first)):
        tensors, as_list = _leading(given, signature.parameters), False
    else:
        tensors, as_list = _together(given.pop(first, None), of_model=of_model), True
    masks = [getattr(tensor, "_keras_mask", None) for tensor in tensors]
    for name, value in given.items():
        if _is_mask(name) and all(_is_among(mask, masks) for mask in _listed(value)):
            continue
        if not _is_usual(name, value, signature.parameters[name].default):
            message = f"it is called with {name}={value!r:.60}: only tensors can be given, in order"
            raise NotDataError(message)
    return tensors, as_list


def creator(tensor: Any) -> Any:
    """Return the call that a symbolic tensor is a result of."""
    history = tensor._keras_history  # noqa: SLF001 - Keras shows the wiring nowhere else
    return history.operation._inbound_nodes[history.node_index]  # noqa: SLF001 - likewise


def _is_tensor(value: Any) -> bool:
    return hasattr(value, "_keras_history")


def _leading(given: dict[str, Any], parameters: Mapping[str, Any]) -> list[Any]:
    """Take the tensors out of the arguments that come first."""
    tensors = []
    for name in parameters:
        if not _is_tensor(given.get(name)) or _is_mask(name):
            break
        tensors.append(given.pop(name))
    return tensors


def _together(value: Any, *, of_model: bool) -> list[Any]:
    if of_model and isinstance(value, dict):
        value = [value[key] for key in sorted(value)]  # the order in which Keras flattens it
    if not isinstance(value, (list, tuple)) or not all(map(_is_tensor, value)):
        message = (
            f"it is called with {value!r:.60}: only tensors, or one list of them, can be given"
        )
        raise NotDataError(message)
    return list(value)


def _is_usual(name: str, value: Any, default: Any) -> bool:
    """Return whether an argument says no more than that nothing special is wanted.

    `training=False` is what everything but a training step does anyway.
    """
    if value is None or (name == "training" and value is False):
        return True
    return not _is_tensor(value) and value is default


def _is_mask(name: str) -> bool:
    return name == "mask" or name.endswith("_mask")


def _listed(value: Any) -> Sequence[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, (list, tuple)) else [value]


def _is_among(mask: Any, masks: Sequence[Any]) -> bool:
    """Return whether a mask is one of those that Keras hands on with tensors."""
    return mask is None or any(_same(mask, other) for other in masks)


def _same(one: Any, other: Any) -> bool:
    """Return whether two symbolic tensors are computed alike from the same layers' outputs.

    A model that was loaded has the masks of its file beside those that Keras computes anew.
    """
    if one is other:
        return True
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(_same, one, other))
    if not (_is_tensor(one) and _is_tensor(other)):
        return not _is_tensor(one) and not _is_tensor(other) and bool(one == other)
    call, twin = creator(one), creator(other)
    if hasattr(call.operation, "weights") or type(call.operation) is not type(twin.operation):
        return False
    return _same(call.arguments.args, twin.arguments.args) and (
        call.arguments.kwargs.keys() == twin.arguments.kwargs.keys()
        and all(
            _same(call.arguments.kwargs[key], twin.arguments.kwargs[key])
            for key in call.arguments.kwargs
        )
    )
