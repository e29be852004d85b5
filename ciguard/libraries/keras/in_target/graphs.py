"""A Keras model as data: the JSON form of `ciguard.domain.models.LayerGraph`.

Models inside models are flattened; a layer that is called more than once is shared by its nodes.
"""

from __future__ import annotations

import re
import zlib
from typing import Any, NamedTuple, Sequence

from ciguard.libraries.keras.in_target.calls import creator, tensors_of
from ciguard.libraries.keras.in_target.configs import NotDataError, arguments_of, public_name

INPUT = "keras.Input"
_SUMS = {"Add", "Subtract", "Multiply", "Maximum", "Minimum"}
"""Operations on two tensors, as `x + y`, that a layer of the same name does as well."""
_PAIR = 2
_MAX_NAME_LENGTH = 80


class GraphError(ValueError):
    """A model that is no graph of Keras layers; the text names the model and the layer."""


def graph_of(model: Any, *, file: str = "") -> dict[str, Any]:
    """Return a functional or sequential model as JSON of a `LayerGraph`.

    Args:
        model: a built `keras.Model`.
        file: the file it was loaded from, when its weights are to be read from there; otherwise
            they follow from the names of the nodes.

    Raises:
        GraphError: if the model is subclassed, has dynamic dimensions, or a layer of it cannot be
            written as data.
    """
    return _Writer(model, file).graph()


class _Writer:
    """Collects the nodes of one model."""

    def __init__(self, model: Any, file: str) -> None:
        self._model = model
        self._file = file
        self._nodes: list[dict[str, Any]] = []
        self._names: set[str] = set()
        self._first: dict[int, str] = {}
        """Layer → the node that it was first called at."""
        self._owner: dict[int, str] = {}
        """Variable → the node whose layer has it."""

    def graph(self) -> dict[str, Any]:
        inputs, outputs = self._ends(self._model)
        known = {id(tensor): self._input(tensor) for tensor in inputs}
        self._flow(outputs, known, "")
        return {"nodes": self._nodes, "outputs": [known[id(tensor)] for tensor in outputs]}

    def _refuse(self, layer: str, why: object) -> GraphError:
        place = f", layer {layer!r}" if layer else ""
        return GraphError(f"model {self._model.name!r}{place}: {why}")

    def _ends(self, model: Any) -> tuple[Sequence[Any], Sequence[Any]]:
        """Return the inputs and outputs of a model, which is a graph and no code of its author."""
        inside = "" if model is self._model else model.name
        if not _is_graph(model):
            why = f"its class {type(model).__name__} is a subclass of keras.Model, which is code"
            raise self._refuse(inside, why)
        try:
            inputs, outputs = model.inputs, model.outputs
        except (AttributeError, ValueError):
            inputs = outputs = None
        if not inputs or not outputs:
            raise self._refuse(inside, "it was never built: begin it with keras.Input(shape)")
        return inputs, outputs

    def _input(self, tensor: Any) -> str:
        node = self._begun(creator(tensor).operation.name, INPUT, tensor)
        self._nodes.append(node)
        return str(node["name"])

    def _begun(self, name: str, layer: str, tensor: Any) -> dict[str, Any]:
        """Return a node's name, layer, shape and dtype."""
        shape = tuple(tensor.shape)
        if not shape or None in shape[1:]:
            why = f"shape {shape} has a dimension that is not fixed: only the first may be None"
            raise self._refuse(name, why)
        dtype = str(tensor.dtype)
        if dtype == "string":
            raise self._refuse(name, "texts are not supported: begin the model behind them")
        node: dict[str, Any] = {
            "name": self._unique(name),
            "layer": layer,
            "shape": [int(size) for size in shape[1:]],
        }
        if dtype != "float32":
            node["dtype"] = dtype
        return node

    def _unique(self, name: str) -> str:
        valid = re.sub(r"[^A-Za-z0-9_]+", "_", name)[:_MAX_NAME_LENGTH]
        if not valid[:1].isalpha():
            valid = f"layer_{valid}"
        found, count = valid, 1
        while found in self._names:
            count += 1
            found = f"{valid}_{count}"
        self._names.add(found)
        return found

    def _flow(self, outputs: Sequence[Any], known: dict[int, str], path: str) -> None:
        """Write every node between the known tensors and the outputs.

        Args:
            outputs: symbolic tensors.
            known: identity of a symbolic tensor → name of the node that makes it; is extended.
            path: names of the models that this one is in, each followed by `/`.
        """
        for step in self._steps(outputs, known):
            if _is_model(step.call.operation):
                self._enter(step, known, path)
            else:
                known[id(step.call.outputs[0])] = self._layer(step, known, path)

    def _steps(self, outputs: Sequence[Any], known: dict[int, str]) -> list[_Step]:
        """Return the calls between the known tensors and the outputs, each after its inputs.

        Does not recurse: a model may be deeper than Python's stack.
        """
        steps: dict[int, _Step] = {}
        done: dict[int, _Step] = {}
        waiting = [creator(tensor) for tensor in reversed(outputs) if id(tensor) not in known]
        while waiting:
            call = waiting[-1]
            step = steps.get(id(call))
            if step is None:
                step = steps[id(call)] = self._step(call)
                before = [creator(t) for t in reversed(step.tensors) if id(t) not in known]
                waiting += [earlier for earlier in before if id(earlier) not in done]
            else:
                done.setdefault(id(call), step)
                waiting.pop()
        return list(done.values())

    def _step(self, call: Any) -> _Step:
        name = call.operation.name
        if call.is_input:
            raise self._refuse(name, "layers read it, but it is no input of the model")
        try:
            return _Step(call, *tensors_of(call, of_model=_is_model(call.operation)))
        except NotDataError as error:
            raise self._refuse(name, error) from error

    def _enter(self, step: _Step, known: dict[int, str], path: str) -> None:
        """Write the nodes of a model that is called like a layer."""
        model = step.call.operation
        inputs, outputs = self._ends(model)
        if len(step.tensors) != len(inputs):
            why = f"it has {len(inputs)} inputs and is called with {len(step.tensors)}"
            raise self._refuse(model.name, why)
        pairs = zip(inputs, step.tensors)
        inside = {id(own): known[id(tensor)] for own, tensor in pairs}
        self._flow(outputs, inside, f"{path}{model.name}/")
        for tensor, own in zip(step.call.outputs, outputs):
            known[id(tensor)] = inside[id(own)]

    def _layer(self, step: _Step, known: dict[int, str], path: str) -> str:
        layer, results = step.call.operation, step.call.outputs
        if len(results) != 1:
            raise self._refuse(layer.name, f"it has {len(results)} outputs instead of one")
        try:
            kind, config = _described(step)
        except NotDataError as error:
            raise self._refuse(layer.name, error) from error
        node = self._begun(layer.name, kind, results[0])
        node["inputs"] = [known[id(tensor)] for tensor in step.tensors]
        if config:
            node["config"] = config
        if step.as_list or not _is_layer(layer):
            node["as_list"] = True
        node.update(self._possession(layer, node["name"], path))
        self._nodes.append(node)
        return str(node["name"])

    def _possession(self, layer: Any, name: str, path: str) -> dict[str, Any]:
        """Return whose layer object and weights a node has."""
        first = self._first.setdefault(id(layer), name)
        if first != name:
            return {"shares": first}
        weights = getattr(layer, "weights", None)
        if not weights:
            return {}
        for variable in weights:
            owner = self._owner.setdefault(id(variable), name)
            if owner != name:
                raise self._refuse(layer.name, f"it has a weight in common with {owner!r}")
        recipe: dict[str, Any] = {"seed": zlib.crc32(name.encode())}
        if self._file:
            recipe.update(file=self._file, stored=path + layer.name)
        return {"weights": recipe}


class _Step(NamedTuple):
    """One call of a layer or a model in a graph."""

    call: Any
    """As Keras keeps it."""
    tensors: Sequence[Any]
    """What it was called with."""
    as_list: bool


def _is_layer(operation: Any) -> bool:
    return hasattr(operation, "weights")


def _is_model(operation: Any) -> bool:
    return hasattr(operation, "layers") and hasattr(operation, "summary")


def _is_graph(model: Any) -> bool:
    """Return whether a model computes what its layers say, as those of Keras itself do."""
    return type(model).__module__.startswith("keras.")


def _described(step: _Step) -> tuple[str, dict[str, Any]]:
    """Return the public name of a layer and its constructor arguments.

    Raises:
        NotDataError: if it is no layer, or cannot be written as data.
    """
    operation = step.call.operation
    if _is_layer(operation):
        kind = public_name(type(operation))
        return kind, arguments_of(operation)
    name = type(operation).__name__
    # Of different ranks, layers align the batch, operations the last dimension.
    ranks = [len(tensor.shape) for tensor in step.tensors]
    if name not in _SUMS or ranks != ranks[:1] * _PAIR:
        message = f"it is the operation {name} and no layer: use one of keras.layers"
        raise NotDataError(message)
    return f"keras.layers.{name}", {}
