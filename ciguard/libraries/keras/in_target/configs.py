"""Constructor arguments of a Keras layer: a small set that reproduces the layer."""

from __future__ import annotations

import copy
import importlib
import inspect
import json
from typing import Any, Callable

_EXCLUDED_KEYS = ("name", "dtype", "trainable", "build_config")
_CODE_LAYERS = ("Lambda", "TorchModuleWrapper", "JaxLayer", "FlaxLayer", "TFSMLayer")
"""Public layers that run the user's code, which a configuration does not contain."""


OWN_CODE_ADVICE = (
    ". Only layers of keras.layers are mutated. Let a function return the part of the model before "
    "or behind this layer, as keras.Model(inputs, outputs), and test the layer itself at level "
    "function (docs/levels/model.md#your-own-layers)"
)
"""Next step for a user whose model contains code of the user."""


class NotDataError(ValueError):
    """A layer cannot be represented as data. The message states the reason."""


def public_name(layer_class: type) -> str:
    """Return the public name of a layer's class, e.g. `keras.layers.Conv2D`.

    Raises:
        NotDataError: if the class has no public name, or runs the user's code.
    """
    layers = importlib.import_module("keras").layers
    name = layer_class.__name__
    if name in _CODE_LAYERS:
        message = f"{name} runs custom code, which a Keras configuration cannot store"
        raise NotDataError(message + OWN_CODE_ADVICE)
    if getattr(layers, name, None) is not layer_class:
        message = f"the layer's class {layer_class.__module__}.{name} is not in keras.layers"
        raise NotDataError(message + OWN_CODE_ADVICE)
    return f"keras.layers.{name}"


def arguments_of(layer: Any) -> dict[str, Any]:
    """Return the constructor arguments of a layer that differ from the defaults, as JSON.

    The name, dtype and initialisers are left out. A wrapped layer is `{"layer", "config"}`.

    Raises:
        NotDataError: if the arguments do not reproduce the layer.
    """
    layer_class = type(layer)
    public_name(layer_class)
    config = _config_of(layer)
    required_arguments = {
        key: config[key] for key in _required_parameters(layer_class) if key in config
    }
    defaults = _config_of(build_layer(layer_class, required_arguments))
    arguments = {
        key: value
        for key, value in config.items()
        if key in required_arguments or key not in defaults or defaults[key] != value
    }
    # A default may depend on another argument: strides, for example, default to the pool size.
    rebuilt_config = _config_of(build_layer(layer_class, arguments))
    arguments.update(
        {key: value for key, value in config.items() if rebuilt_config.get(key) != value}
    )
    _check_equal(layer, build_layer(layer_class, arguments), config)
    return arguments


def build_layer(layer_class: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    """Return a layer built from the arguments that `arguments_of` returned.

    Raises:
        NotDataError: if the constructor rejects the arguments.
    """
    try:
        return layer_class(**_unwrapped(arguments))
    except Exception as error:  # a constructor may raise any exception
        message = (
            f"the layer cannot be built from its configuration: {type(error).__name__}: {error}"
        )
        raise NotDataError(message) from error


def _unwrapped(value: Any) -> Any:
    if isinstance(value, list):
        return [_unwrapped(item) for item in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {"layer", "config"}:
        name = value["layer"].rpartition(".")[2]
        return build_layer(getattr(importlib.import_module("keras").layers, name), value["config"])
    return {key: _unwrapped(item) for key, item in value.items()}


def _check_equal(layer: Any, rebuilt_layer: Any, config: dict[str, Any]) -> None:
    """Raise an error if the rebuilt layer differs from the original."""
    rebuilt_config = _config_of(rebuilt_layer)
    for key in sorted(config):
        if rebuilt_config.get(key) != config[key]:
            value = rebuilt_config.get(key)
            message = (
                f"the argument {key}={config[key]!r:.80} becomes {value!r:.80} when the "
                "layer is rebuilt from its configuration"
            )
            raise NotDataError(message)
    if layer.dtype_policy.name != rebuilt_layer.dtype_policy.name:
        message = (
            f"the layer computes in {layer.dtype_policy.name}, but in "
            f"{rebuilt_layer.dtype_policy.name} when it is rebuilt from its configuration"
        )
        raise NotDataError(message)


def _required_parameters(layer_class: type) -> list[str]:
    parameters = inspect.signature(layer_class).parameters.values()
    return [
        parameter.name
        for parameter in parameters
        if parameter.default is parameter.empty
        and parameter.kind in {parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY}
    ]


def _config_of(layer: Any) -> dict[str, Any]:
    config: dict[str, Any] = _with_nested_layers(
        _without_excluded_keys(_as_json(layer.get_config()))
    )
    return config


def _as_json(config: dict[str, Any]) -> dict[str, Any]:
    try:
        plain: dict[str, Any] = json.loads(json.dumps(config, default=_json_default))
    except (TypeError, ValueError) as error:
        message = f"an argument of the layer's constructor cannot be stored as data: {error}"
        raise NotDataError(message) from error
    return plain


def _json_default(value: Any) -> Any:
    """Return a numpy number or array as JSON.

    Raises:
        TypeError: if the value is of another type.
    """
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(type(value).__name__)


def _without_excluded_keys(value: Any) -> Any:
    """Return a configuration without keys that are not part of a graph, at any depth."""
    if isinstance(value, list):
        return [_without_excluded_keys(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: _without_excluded_keys(item)
        for key, item in value.items()
        if key not in _EXCLUDED_KEYS and not key.endswith("_initializer")
    }


def _with_nested_layers(value: Any) -> Any:
    """Return an argument with each layer that it contains as `{"layer", "config"}`.

    Raises:
        NotDataError: if the argument contains an object of a class outside Keras.
    """
    if isinstance(value, list):
        return [_with_nested_layers(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "class_name" not in value:
        return {key: _with_nested_layers(item) for key, item in value.items()}
    module, name = str(value.get("module")), value["class_name"]
    if not module.startswith("keras."):
        place = "the script" if module in {"None", "builtins"} else module
        config = f"{value.get('config')!r:.80}"
        message = f"an argument of the layer's constructor is the {name} {config} from {place}"
        raise NotDataError(message + OWN_CODE_ADVICE)
    if not module.startswith(("keras.layers", "keras.src.layers")):
        return value
    keras = importlib.import_module("keras")
    inner = keras.saving.deserialize_keras_object(copy.deepcopy(value))
    return {"layer": public_name(type(inner)), "config": arguments_of(inner)}
