"""The layers of a graph in Keras: made from data, given their weights, called node by node."""

from __future__ import annotations

import inspect
from collections import Counter
from functools import lru_cache, wraps
from typing import Any, Callable, Mapping, Sequence

import numpy as np

from ciguard.libraries.in_target import contract
from ciguard.libraries.keras.in_target import stored as keras_stored

INPUT = "keras.Input"
"""Layer of the nodes that are a graph's inputs (`ciguard.domain.models.INPUT`)."""
_NARROW_OR_WIDE = frozenset({"float16", "bfloat16", "float64"})
"""Types of an output that tell in which type its layer computes."""


class Network:
    """The layers of a graph, made when they are first called."""

    def __init__(self, adapter: contract.Adapter, keras: Any, work: contract.ModelRun) -> None:
        self.keras = keras
        self.case = work.case
        self.nodes: list[dict[str, Any]] = work.case["graph"]["nodes"]
        self.outputs: list[str] = work.case["graph"]["outputs"]
        self.layers: dict[str, Any] = {}
        """By the node that made it, in order; a node that shares one has none."""
        self.adapter = adapter
        self._work = work
        self._weighed: dict[int, int] = {}
        self.weight_bytes = 0
        """Of the weights that were set, as they were made."""
        self._blank = keras.initializers.Zeros() if self.is_saved else _blank(keras)

    @property
    def is_saved(self) -> bool:
        """Whether a model is to be made that can be saved."""
        return bool(self.case["check"] == "save")

    def fed(self) -> dict[str, Any]:
        """Return the tensors that the inputs are fed, by node."""
        fed: dict[str, Any] = {}
        names = [node for node in self.nodes if node["layer"] == INPUT]
        for node, array in zip(names, self._work.data):
            dtype = self.dtype_of_input(node)
            held_as = "float32" if dtype == "bfloat16" else dtype
            fed[node["name"]] = self.adapter.tensor(array.astype(held_as, copy=False), dtype)
        return fed

    def dtype_of_input(self, node: Mapping[str, Any]) -> str:
        """Return the type of what an input is fed."""
        dtype = str(node.get("dtype", "float32"))
        return self.case.get("dtype") or dtype if "float" in dtype else dtype

    def forward(
        self,
        values: dict[str, Any],
        *,
        until: str = "",
        watch: Callable[[str, Any], None] | None = None,
    ) -> None:
        """Compute all nodes in order, or stop at one.

        Args:
            values: tensors by node: at first those of the inputs, in the end those of the outputs
                (or of the inputs of `until`); what is in between is let go after its last use.
            until: the node to stop at.
            watch: is shown what each node computes.
        """
        uses = Counter(name for node in self.nodes for name in node.get("inputs", ()))
        uses.update(self.outputs)
        for node in self.nodes:
            name, inputs = node["name"], node.get("inputs", ())
            if name == until:
                return
            if node["layer"] == INPUT:
                continue
            values[name] = self.call(node, [values[each] for each in inputs])
            if watch is not None:
                watch(name, values[name])
            uses.subtract(inputs)
            for each in inputs:
                if not uses[each]:
                    values.pop(each, None)

    def call(self, node: Mapping[str, Any], inputs: Sequence[Any]) -> Any:
        """Return what a node computes, of several results the first; its layer is made if need be.

        Raises:
            LayerError: whatever Keras raises.
        """
        layer = self._layer(node)
        keywords = {}
        if _takes_training(layer.__class__.call):
            keywords["training"] = bool(self.case.get("training", False))
        try:
            output = self._called(node, layer, inputs, keywords)
        except Exception as error:
            raise contract.LayerError(node["name"], error, unbuilt=False) from error
        while isinstance(output, (list, tuple)):
            output = output[0]
        return output

    def _called(
        self, node: Mapping[str, Any], layer: Any, inputs: Sequence[Any], keywords: dict[str, Any]
    ) -> Any:
        arguments = [list(inputs)] if node.get("as_list") else inputs
        output = layer(*arguments, **keywords)
        if self._weigh(node, layer):  # it made weights only when it was called
            output = layer(*arguments, **keywords)
        return output

    def _layer(self, node: Mapping[str, Any]) -> Any:
        """Return the layer of a node; made, with all weights zero, when first asked for.

        Raises:
            LayerError: if this version lacks the layer or an argument.
        """
        name = node.get("shares") or node["name"]
        if name not in self.layers:
            try:
                layer = self._made(node, **self._own_settings(node))
            except Exception as error:
                raise contract.LayerError(name, error, unbuilt=True) from error
            for part in layer._flatten_layers():  # noqa: SLF001 - the only way to the parts
                _start_with(self._blank, part)
            self._weigh_when_built(node, layer)
            self.layers[name] = layer
        return self.layers[name]

    def _own_settings(self, node: Mapping[str, Any]) -> dict[str, Any]:
        settings = {"name": node["name"]}
        dtype = node.get("dtype", "float32")
        if dtype in _NARROW_OR_WIDE and not self.case.get("dtype"):
            settings["dtype"] = dtype
        return settings

    def _made(self, described: Mapping[str, Any], **own: Any) -> Any:
        """Construct a layer, and first those that it wraps."""
        config = {key: self._unwrapped(item) for key, item in described.get("config", {}).items()}
        return self.adapter.resolve(described["layer"])(**config, **own)

    def _unwrapped(self, item: Any) -> Any:
        if isinstance(item, dict) and "layer" in item and set(item) <= {"layer", "config"}:
            return self._made(item)
        if isinstance(item, list):
            return [self._unwrapped(each) for each in item]
        return item

    def _weigh_when_built(self, node: Mapping[str, Any], layer: Any) -> None:
        """Let a layer have its weights as soon as Keras has built it, before it computes."""
        build = layer.build

        @wraps(build)  # Keras reads its signature, and whether it is the default
        def build_and_weigh(*args: Any, **kwargs: Any) -> None:
            build(*args, **kwargs)
            self._weigh(node, layer)

        layer.build = build_and_weigh

    def _weigh(self, node: Mapping[str, Any], layer: Any) -> bool:
        """Set a layer's weights unless they are set; return whether there were some to set."""
        weights = layer.weights
        if self._weighed.get(id(layer), 0) == len(weights):
            return False
        self._weighed[id(layer)] = len(weights)
        recipe = node.get("weights", {})
        stored = keras_stored.arrays(self.keras, recipe) if recipe.get("file") else None
        made = self._work.weights(
            _innermost(node),
            recipe,
            [(weight.name, tuple(weight.shape), str(weight.dtype)) for weight in weights],
            # Kinks of gradients are mostly at zero.
            nudge=(int(self.case.get("nudge", 0)), self.case["check"] == "train"),
            stored=stored,
        )
        for weight, array in zip(weights, made):
            if array is not None:
                weight.assign(array)
                self.weight_bytes += array.nbytes
        return True


def _blank(keras: Any) -> Any:
    """Return an initialiser that asks nothing of the backend: drawing numbers can cost a compiler.

    Weights follow from their recipe, so what a layer draws at first is lost anyway.
    """

    class Blank(keras.initializers.Initializer):  # type: ignore[misc]
        def __call__(self, shape: Any, dtype: Any = None, **_: Any) -> Any:
            named = str(dtype or "float32")
            return np.zeros(shape, "float32" if "bfloat" in named or "float8" in named else named)

    return Blank()


def _start_with(initializer: Any, layer: Any) -> None:
    """Make a layer begin with this initialiser for all its weights."""
    base = type(initializer).__mro__[-2]
    for name, value in list(vars(layer).items()):
        if name.endswith("_initializer") and isinstance(value, base):
            setattr(layer, name, initializer)


def _innermost(node: Mapping[str, Any]) -> str:
    """Return the public name of a node's layer, of a wrapper that of what it wraps."""
    wrapped = [item for item in node.get("config", {}).values() if isinstance(item, dict)]
    for item in wrapped:
        if "layer" in item:
            return _innermost(item)
    return str(node["layer"])


@lru_cache(maxsize=1024)
def _takes_training(call: Callable[..., Any]) -> bool:
    return "training" in inspect.signature(call).parameters
