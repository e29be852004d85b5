"""Converts a Keras model to data: the JSON form of `ciguard.domain.models.LayerGraph`.

Nested models are flattened. A layer that is called more than once is shared by its nodes.
"""

from __future__ import annotations

import re
import zlib
from typing import Any, NamedTuple, Sequence

from ciguard.libraries.keras.in_target.calls import creator, tensors_of
from ciguard.libraries.keras.in_target.configs import NotDataError, arguments_of, public_name

INPUT = "keras.Input"
"""Layer name of the nodes that are inputs of a graph."""
_OPERATIONS_WITH_LAYER = {"Add", "Subtract", "Multiply", "Maximum", "Minimum"}
"""Operations on two tensors, such as `x + y`, with an equivalent layer of the same name."""
_PAIR = 2
_MAX_NAME_LENGTH = 80


class GraphError(ValueError):
    """A model is not a graph of Keras layers. The message names the model and the layer."""


def graph_of(model: Any, *, file: str = "") -> dict[str, Any]:
    """Return a functional or sequential model as JSON of a `LayerGraph`.

    Args:
        model: a built `keras.Model`.
        file: the file from which the model was loaded and its weights are taken. If empty, weights
            depend on the names of the nodes.

    Raises:
        GraphError: if the model is subclassed, has dynamic dimensions, or contains a layer that
            cannot be represented as data.
    """
    return _GraphWriter(model, file).graph()


class _GraphWriter:
    """Collector of the nodes of one model."""

    def __init__(self, model: Any, file: str) -> None:
        self._model = model
        self._file = file
        self._nodes: list[dict[str, Any]] = []
        self._names: set[str] = set()
        self._first_node: dict[int, str] = {}
        """Name of the node of a layer's first call, by the identity of the layer."""
        self._owner_node: dict[int, str] = {}
        """Name of the node of the layer that has a variable, by the identity of the variable."""

    def graph(self) -> dict[str, Any]:
        """Return the graph of the model."""
        inputs, outputs = self._inputs_and_outputs(self._model)
        names = {id(tensor): self._write_input(tensor) for tensor in inputs}
        self._write_nodes(outputs, names, "")
        return {"nodes": self._nodes, "outputs": [names[id(tensor)] for tensor in outputs]}

    def _error(self, layer: str, reason: object) -> GraphError:
        place = f", layer {layer!r}" if layer else ""
        return GraphError(f"model {self._model.name!r}{place}: {reason}")

    def _inputs_and_outputs(self, model: Any) -> tuple[Sequence[Any], Sequence[Any]]:
        """Return the inputs and outputs of a functional or sequential model.

        Raises:
            GraphError: if the model is subclassed or was never built.
        """
        layer = "" if model is self._model else model.name
        if not _is_graph(model):
            name = type(model).__name__
            reason = (
                f"the model's class {name} is a subclass of keras.Model, which cannot be "
                "stored as data. Return a keras.Model(inputs, outputs) of layers of keras.layers "
                "instead, or test the class at level function "
                "(docs/levels/model.md#your-own-layers)"
            )
            raise self._error(layer, reason)
        try:
            inputs, outputs = model.inputs, model.outputs
        except (AttributeError, ValueError):
            inputs = outputs = None
        if not inputs or not outputs:
            raise self._error(
                layer, "the model was never built: add keras.Input(shape) as its first layer"
            )
        return inputs, outputs

    def _write_input(self, tensor: Any) -> str:
        node = self._node(creator(tensor).operation.name, INPUT, tensor)
        self._nodes.append(node)
        return str(node["name"])

    def _node(self, name: str, layer: str, tensor: Any) -> dict[str, Any]:
        """Return a node with its name, layer, shape and dtype."""
        shape = tuple(tensor.shape)
        if not shape or None in shape[1:]:
            reason = f"the shape {shape} is dynamic: only the first dimension may be None"
            raise self._error(name, reason)
        dtype = str(tensor.dtype)
        if dtype == "string":
            raise self._error(
                name,
                "inputs of type string are not supported: use a model that begins with "
                "the next layer",
            )
        node: dict[str, Any] = {
            "name": self._unique_name(name),
            "layer": layer,
            "shape": [int(size) for size in shape[1:]],
        }
        if dtype != "float32":
            node["dtype"] = dtype
        return node

    def _unique_name(self, name: str) -> str:
        """Return a valid and unique name of a node, derived from `name`."""
        valid_name = re.sub(r"[^A-Za-z0-9_]+", "_", name)[:_MAX_NAME_LENGTH]
        if not valid_name[:1].isalpha():
            valid_name = f"layer_{valid_name}"
        unique_name, count = valid_name, 1
        while unique_name in self._names:
            count += 1
            unique_name = f"{valid_name}_{count}"
        self._names.add(unique_name)
        return unique_name

    def _write_nodes(self, outputs: Sequence[Any], names: dict[int, str], path: str) -> None:
        """Write every node between the known tensors and the outputs.

        Args:
            outputs: the symbolic tensors to reach.
            names: the names of nodes by the identity of their symbolic tensor; this method adds
                the nodes that it writes.
            path: the names of the outer models, each followed by `/`.
        """
        for layer_call in self._ordered_calls(outputs, names):
            if _is_model(layer_call.call.operation):
                self._write_model(layer_call, names, path)
            else:
                names[id(layer_call.call.outputs[0])] = self._write_layer(layer_call, names, path)

    def _ordered_calls(self, outputs: Sequence[Any], names: dict[int, str]) -> list[_LayerCall]:
        """Return the calls between the known tensors and the outputs in topological order.

        The search is not recursive, since a model may be deeper than Python's stack.
        """
        layer_calls: dict[int, _LayerCall] = {}
        visited_calls: dict[int, _LayerCall] = {}
        pending = [creator(tensor) for tensor in reversed(outputs) if id(tensor) not in names]
        while pending:
            call = pending[-1]
            layer_call = layer_calls.get(id(call))
            if layer_call is None:
                layer_call = layer_calls[id(call)] = self._layer_call(call)
                inputs = [creator(t) for t in reversed(layer_call.tensors) if id(t) not in names]
                pending += [
                    input_call for input_call in inputs if id(input_call) not in visited_calls
                ]
            else:
                visited_calls.setdefault(id(call), layer_call)
                pending.pop()
        return list(visited_calls.values())

    def _layer_call(self, call: Any) -> _LayerCall:
        """Return a call with its input tensors."""
        name = call.operation.name
        if call.is_input:
            raise self._error(name, "layers use this input, but it is not an input of the model")
        try:
            return _LayerCall(call, *tensors_of(call, of_model=_is_model(call.operation)))
        except NotDataError as error:
            raise self._error(name, error) from error

    def _write_model(self, layer_call: _LayerCall, outer_names: dict[int, str], path: str) -> None:
        """Write the nodes of a nested model."""
        model = layer_call.call.operation
        inputs, outputs = self._inputs_and_outputs(model)
        if len(layer_call.tensors) != len(inputs):
            reason = (
                f"the model has {len(inputs)} inputs, but its call passes {len(layer_call.tensors)}"
            )
            raise self._error(model.name, reason)
        pairs = zip(inputs, layer_call.tensors)
        names = {id(inner): outer_names[id(tensor)] for inner, tensor in pairs}
        self._write_nodes(outputs, names, f"{path}{model.name}/")
        for tensor, inner in zip(layer_call.call.outputs, outputs):
            outer_names[id(tensor)] = names[id(inner)]

    def _write_layer(self, layer_call: _LayerCall, names: dict[int, str], path: str) -> str:
        """Write the node of a layer and return its name."""
        layer, results = layer_call.call.operation, layer_call.call.outputs
        if len(results) != 1:
            raise self._error(layer.name, f"the layer has {len(results)} outputs instead of one")
        try:
            kind, config = _layer_and_config(layer_call)
        except NotDataError as error:
            raise self._error(layer.name, error) from error
        node = self._node(layer.name, kind, results[0])
        node["inputs"] = [names[id(tensor)] for tensor in layer_call.tensors]
        if config:
            node["config"] = config
        if layer_call.as_list or not _is_layer(layer):
            node["as_list"] = True
        node.update(self._weight_fields(layer, node["name"], path))
        self._nodes.append(node)
        return str(node["name"])

    def _weight_fields(self, layer: Any, name: str, path: str) -> dict[str, Any]:
        """Return the fields of a node that describe the origin of its layer and weights."""
        first = self._first_node.setdefault(id(layer), name)
        if first != name:
            return {"shares": first}
        weights = getattr(layer, "weights", None)
        if not weights:
            return {}
        for variable in weights:
            owner = self._owner_node.setdefault(id(variable), name)
            if owner != name:
                raise self._error(
                    layer.name,
                    f"the layer shares a weight with layer {owner!r}; "
                    "a seed cannot contain shared weights",
                )
        recipe: dict[str, Any] = {"seed": zlib.crc32(name.encode())}
        if self._file:
            recipe.update(file=self._file, stored=path + layer.name)
        return {"weights": recipe}


class _LayerCall(NamedTuple):
    """One call of a layer or a model in a graph."""

    call: Any
    """Keras's node of the call."""
    tensors: Sequence[Any]
    """Symbolic tensors that the call passes, in order."""
    as_list: bool
    """True if the call passes the tensors as one list."""


def _is_layer(operation: Any) -> bool:
    return hasattr(operation, "weights")


def _is_model(operation: Any) -> bool:
    return hasattr(operation, "layers") and hasattr(operation, "summary")


def _is_graph(model: Any) -> bool:
    """Return whether a model is functional or sequential, and thus defined by its layers."""
    return type(model).__module__.startswith("keras.")


def _layer_and_config(layer_call: _LayerCall) -> tuple[str, dict[str, Any]]:
    """Return the public name of a layer and its constructor arguments.

    Raises:
        NotDataError: if the operation is not a layer, or cannot be represented as data.
    """
    operation = layer_call.call.operation
    if _is_layer(operation):
        kind = public_name(type(operation))
        return kind, arguments_of(operation)
    name = type(operation).__name__
    # For different ranks, layers align the first dimension, but operations align the last one.
    ranks = [len(tensor.shape) for tensor in layer_call.tensors]
    if name not in _OPERATIONS_WITH_LAYER or ranks != ranks[:1] * _PAIR:
        message = f"this is the operation {name}, not a layer: use a layer from keras.layers"
        raise NotDataError(message)
    return f"keras.layers.{name}", {}
