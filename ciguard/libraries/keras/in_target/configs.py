"""Constructor arguments of a Keras layer, as few as give the same layer again."""

from __future__ import annotations

import copy
import importlib
import inspect
import json
from typing import Any, Callable

_LEFT_OUT = ("name", "dtype", "trainable", "build_config")
_FOREIGN = ("Lambda", "TorchModuleWrapper", "JaxLayer", "FlaxLayer", "TFSMLayer")
"""Public layers whose work is code of others, which no configuration holds."""


class NotDataError(ValueError):
    """A layer that cannot be written as data; the text says why."""


def public_name(kind: type) -> str:
    """Return the public name of a layer's class, e.g. `keras.layers.Conv2D`.

    Raises:
        NotDataError: if it has none, or runs code that a configuration does not hold.
    """
    layers = importlib.import_module("keras").layers
    name = kind.__name__
    if name in _FOREIGN:
        message = f"{name} runs code that no configuration holds"
        raise NotDataError(message)
    if getattr(layers, name, None) is not kind:
        message = f"its class {kind.__module__}.{name} is none of keras.layers"
        raise NotDataError(message)
    return f"keras.layers.{name}"


def arguments_of(layer: Any) -> dict[str, Any]:
    """Return the constructor arguments of a layer that differ from the defaults, as JSON.

    Its name, dtype and initialisers are left out; a wrapped layer is `{"layer", "config"}`.

    Raises:
        NotDataError: if the layer does not come back from them.
    """
    kind = type(layer)
    public_name(kind)
    whole = _config_of(layer)
    required = {key: whole[key] for key in _required(kind) if key in whole}
    defaults = _config_of(made(kind, required))
    kept = {
        key: value
        for key, value in whole.items()
        if key in required or key not in defaults or defaults[key] != value
    }
    # A default may follow from another argument, as strides do from the size of a pool.
    found = _config_of(made(kind, kept))
    kept.update({key: value for key, value in whole.items() if found.get(key) != value})
    _compare(layer, made(kind, kept), whole)
    return kept


def made(kind: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    """Make a layer from the arguments that `arguments_of` returns.

    Raises:
        NotDataError: if its constructor refuses them.
    """
    try:
        return kind(**_unwrapped(arguments))
    except Exception as error:  # whatever a constructor raises, the layer cannot be made anew
        message = f"it cannot be made from its configuration: {type(error).__name__}: {error}"
        raise NotDataError(message) from error


def _unwrapped(value: Any) -> Any:
    if isinstance(value, list):
        return [_unwrapped(item) for item in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {"layer", "config"}:
        name = value["layer"].rpartition(".")[2]
        return made(getattr(importlib.import_module("keras").layers, name), value["config"])
    return {key: _unwrapped(item) for key, item in value.items()}


def _compare(layer: Any, again: Any, whole: dict[str, Any]) -> None:
    found = _config_of(again)
    for key in sorted(whole):
        if found.get(key) != whole[key]:
            message = f"its argument {key}={whole[key]!r:.80} comes back as {found.get(key)!r:.80}"
            raise NotDataError(message)
    if layer.dtype_policy.name != again.dtype_policy.name:
        message = f"it computes in {layer.dtype_policy.name}, not in {again.dtype_policy.name}"
        raise NotDataError(message)


def _required(kind: type) -> list[str]:
    parameters = inspect.signature(kind).parameters.values()
    return [
        parameter.name
        for parameter in parameters
        if parameter.default is parameter.empty
        and parameter.kind in {parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY}
    ]


def _config_of(layer: Any) -> dict[str, Any]:
    config: dict[str, Any] = _nested(_without_names(_plain(layer.get_config())))
    return config


def _plain(config: dict[str, Any]) -> dict[str, Any]:
    try:
        plain: dict[str, Any] = json.loads(json.dumps(config, default=_as_number))
    except (TypeError, ValueError) as error:
        message = f"an argument of its constructor is no data: {error}"
        raise NotDataError(message) from error
    return plain


def _as_number(value: Any) -> Any:
    """Return what JSON can hold for a numpy number or array.

    Raises:
        TypeError: if it is something else.
    """
    if hasattr(value, "tolist"):
        return value.tolist()
    message = f"{type(value).__name__}"
    raise TypeError(message)


def _without_names(value: Any) -> Any:
    """Leave out of a configuration, and of those nested in it, what is no part of a graph."""
    if isinstance(value, list):
        return [_without_names(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: _without_names(item)
        for key, item in value.items()
        if key not in _LEFT_OUT and not key.endswith("_initializer")
    }


def _nested(value: Any) -> Any:
    """Write the layers inside an argument as `{"layer", "config"}`.

    Raises:
        NotDataError: if the argument holds an object that is not of Keras.
    """
    if isinstance(value, list):
        return [_nested(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "class_name" not in value:
        return {key: _nested(item) for key, item in value.items()}
    module, name = str(value.get("module")), value["class_name"]
    if not module.startswith("keras."):
        message = f"an argument of its constructor is the {name} {value.get('config')!r:.80} of "
        raise NotDataError(message + ("its author" if module in {"None", "builtins"} else module))
    if not module.startswith(("keras.layers", "keras.src.layers")):
        return value
    keras = importlib.import_module("keras")
    inner = keras.saving.deserialize_keras_object(copy.deepcopy(value))
    return {"layer": public_name(type(inner)), "config": arguments_of(inner)}
