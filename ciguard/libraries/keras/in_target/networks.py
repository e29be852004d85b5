"""Layers of a graph in Keras: builds them from data, assigns their weights, and calls them."""

from __future__ import annotations

import inspect
from collections import Counter
from functools import lru_cache, wraps
from typing import Any, Callable, Mapping, Sequence

import numpy as np

from ciguard.libraries.in_target import contract
from ciguard.libraries.keras.in_target import stored as keras_stored

INPUT = "keras.Input"
"""Layer name of the nodes that are inputs of a graph (`ciguard.domain.models.INPUT`)."""
_NARROW_OR_WIDE = frozenset({"float16", "bfloat16", "float64"})
"""Dtypes of an output in which its layer must compute."""


class Network:
    """Layers of a graph, which are built when they are first called."""

    def __init__(self, adapter: contract.Adapter, keras: Any, work: contract.ModelRun) -> None:
        self.keras = keras
        self.case = work.case
        self.nodes: list[dict[str, Any]] = work.case["graph"]["nodes"]
        self.outputs: list[str] = work.case["graph"]["outputs"]
        self.layers: dict[str, Any] = {}
        """Layers by the name of the first node that calls them, in order."""
        self.adapter = adapter
        self._work = work
        self._assigned_counts: dict[int, int] = {}
        self.weight_bytes = 0
        """Total size of the weights that were assigned, in bytes."""
        self._initializer = (
            keras.initializers.Zeros() if self.is_saved else _blank_initializer(keras)
        )

    @property
    def is_saved(self) -> bool:
        """True if the check saves the model, so that its initialisers must be Keras's own."""
        return bool(self.case["check"] == "save")

    def input_tensors(self) -> dict[str, Any]:
        """Return the input tensors, by the name of the node."""
        tensors: dict[str, Any] = {}
        inputs = [node for node in self.nodes if node["layer"] == INPUT]
        for node, array in zip(inputs, self._work.data):
            dtype = self.dtype_of_input(node)
            numpy_dtype = "float32" if dtype == "bfloat16" else dtype
            tensors[node["name"]] = self.adapter.tensor(
                array.astype(numpy_dtype, copy=False), dtype
            )
        return tensors

    def dtype_of_input(self, node: Mapping[str, Any]) -> str:
        """Return the dtype of an input tensor; the case can override floating-point dtypes."""
        dtype = str(node.get("dtype", "float32"))
        return self.case.get("dtype") or dtype if "float" in dtype else dtype

    def forward(
        self,
        values: dict[str, Any],
        *,
        until: str = "",
        watch: Callable[[str, Any], None] | None = None,
    ) -> None:
        """Compute all nodes in order, or the nodes before `until`.

        Args:
            values: the tensors by node, initially of the inputs only. The method adds the outputs
                of nodes, and removes tensors after their last use. The outputs of the graph remain,
                or the inputs of `until`.
            until: the name of the node before which to stop; empty to compute all nodes.
            watch: a function to call with the name and the output of each node.
        """
        uses = Counter(name for node in self.nodes for name in node.get("inputs", ()))
        uses.update(self.outputs)
        for node in self.nodes:
            name, inputs = node["name"], node.get("inputs", ())
            if name == until:
                return
            if node["layer"] == INPUT:
                continue
            values[name] = self.call(node, [values[source] for source in inputs])
            if watch is not None:
                watch(name, values[name])
            uses.subtract(inputs)
            for source in inputs:
                if not uses[source]:
                    values.pop(source, None)

    def call(self, node: Mapping[str, Any], inputs: Sequence[Any]) -> Any:
        """Return the first output of a node, whose layer is built if necessary.

        Raises:
            LayerError: if Keras raises an exception.
        """
        layer = self._layer(node)
        keywords = {}
        if _takes_training(layer.__class__.call):
            keywords["training"] = bool(self.case.get("training", False))
        try:
            output = self._call_layer(node, layer, inputs, keywords)
        except Exception as error:
            raise contract.LayerError(node["name"], error, unbuilt=False) from error
        while isinstance(output, (list, tuple)):
            output = output[0]
        return output

    def _call_layer(
        self, node: Mapping[str, Any], layer: Any, inputs: Sequence[Any], keywords: dict[str, Any]
    ) -> Any:
        arguments = [list(inputs)] if node.get("as_list") else inputs
        output = layer(*arguments, **keywords)
        if self._assign_weights(node, layer):  # the layer created weights only in its call
            output = layer(*arguments, **keywords)
        return output

    def _layer(self, node: Mapping[str, Any]) -> Any:
        """Return the layer of a node, which is built with all weights zero on first use.

        Raises:
            LayerError: if this version does not have the layer or an argument.
        """
        name = node.get("shares") or node["name"]
        if name not in self.layers:
            try:
                layer = self._build(node, **self._name_and_dtype(node))
            except Exception as error:
                raise contract.LayerError(name, error, unbuilt=True) from error
            for part in layer._flatten_layers():  # noqa: SLF001 - no public access to inner layers
                _set_initializers(self._initializer, part)
            self._assign_weights_when_built(node, layer)
            self.layers[name] = layer
        return self.layers[name]

    def _name_and_dtype(self, node: Mapping[str, Any]) -> dict[str, Any]:
        settings = {"name": node["name"]}
        dtype = node.get("dtype", "float32")
        if dtype in _NARROW_OR_WIDE and not self.case.get("dtype"):
            settings["dtype"] = dtype
        return settings

    def _build(self, description: Mapping[str, Any], **settings: Any) -> Any:
        """Return a new layer, after the layers that it wraps are built."""
        config = {key: self._unwrapped(item) for key, item in description.get("config", {}).items()}
        return self.adapter.resolve(description["layer"])(**config, **settings)

    def _unwrapped(self, item: Any) -> Any:
        if isinstance(item, dict) and "layer" in item and set(item) <= {"layer", "config"}:
            return self._build(item)
        if isinstance(item, list):
            return [self._unwrapped(element) for element in item]
        return item

    def _assign_weights_when_built(self, node: Mapping[str, Any], layer: Any) -> None:
        """Assign a layer's weights as soon as Keras has built it, before it computes."""
        build = layer.build

        @wraps(build)  # Keras inspects the signature, and whether `build` is the default
        def build_and_assign(*args: Any, **kwargs: Any) -> None:
            build(*args, **kwargs)
            self._assign_weights(node, layer)

        layer.build = build_and_assign

    def _assign_weights(self, node: Mapping[str, Any], layer: Any) -> bool:
        """Assign a layer's weights unless they are assigned; return whether there were new ones."""
        weights = layer.weights
        if self._assigned_counts.get(id(layer), 0) == len(weights):
            return False
        self._assigned_counts[id(layer)] = len(weights)
        recipe = node.get("weights", {})
        stored_arrays = keras_stored.arrays(self.keras, recipe) if recipe.get("file") else None
        arrays = self._work.weights(
            _innermost_layer(node),
            recipe,
            [(weight.name, tuple(weight.shape), str(weight.dtype)) for weight in weights],
            # Move weights away from zero, where most gradients have discontinuities.
            nudge=(int(self.case.get("nudge", 0)), self.case["check"] == "train"),
            stored=stored_arrays,
        )
        for weight, array in zip(weights, arrays):
            if array is not None:
                weight.assign(array)
                self.weight_bytes += array.nbytes
        return True


def _blank_initializer(keras: Any) -> Any:
    """Return an initialiser of zeros that uses numpy, since the backend might have to compile.

    The weights of the case replace all initial weights anyway.
    """

    class Blank(keras.initializers.Initializer):  # type: ignore[misc]
        def __call__(self, shape: Any, dtype: Any = None, **_: Any) -> Any:
            dtype_name = str(dtype or "float32")
            return np.zeros(
                shape, "float32" if "bfloat" in dtype_name or "float8" in dtype_name else dtype_name
            )

    return Blank()


def _set_initializers(initializer: Any, layer: Any) -> None:
    """Replace all initialisers of a layer by `initializer`."""
    base = type(initializer).__mro__[-2]
    for name, value in list(vars(layer).items()):
        if name.endswith("_initializer") and isinstance(value, base):
            setattr(layer, name, initializer)


def _innermost_layer(node: Mapping[str, Any]) -> str:
    """Return the public name of a node's layer; for a wrapper, that of the wrapped layer."""
    wrapped_items = [item for item in node.get("config", {}).values() if isinstance(item, dict)]
    for item in wrapped_items:
        if "layer" in item:
            return _innermost_layer(item)
    return str(node["layer"])


@lru_cache(maxsize=1024)
def _takes_training(call: Callable[..., Any]) -> bool:
    return "training" in inspect.signature(call).parameters
