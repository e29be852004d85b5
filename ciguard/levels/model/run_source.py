"""Source code of a run of a layer graph: the layers, their weights, and the compared results."""

from __future__ import annotations

import inspect
import json
import re
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from ciguard.domain.models import INPUT, Check, DataSample, graph_to_json
from ciguard.domain.outcomes import Passed
from ciguard.domain.values import TensorValue
from ciguard.execution.worker.layer_weights import POSITIVE, arrays
from ciguard.execution.worker.samples import sample
from ciguard.writing import is_name, scalar, shape_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ciguard.domain.models import Data, LayerNode, ModelCase
    from ciguard.domain.outcomes import Outcome
    from ciguard.domain.values import Json
    from ciguard.writing import ScriptSource

_NOT_NAME_CHARACTERS = re.compile(r"\W")
_WEIGH_TEMPLATE = '''
def weigh(layer, name, recipe):
    """Give a layer the weights of the run."""
    described = [(w.name, tuple(w.shape), str(w.dtype)) for w in layer.weights]
    stored = stored_in(**recipe) if "file" in recipe else None
    for weight, array in zip(layer.weights, arrays(name, recipe, described, stored=stored)):
        if array is not None:
            weight.assign(array)
'''
_STORED_TEMPLATE = '''
def stored_in(file, stored, **_):
    """Return the weights of a layer in the model that the run began with."""
    found = keras.saving.load_model(file, compile=False)
    for name in stored.split("/"):
        found = found.get_layer(name)
    return found.get_weights()
'''
_WEIGH_PLAINLY_TEMPLATE = '''
def weigh(layer):
    """Give a layer the weights of the run: evenly spaced numbers."""
    for weight in layer.weights:
        if "float" in str(weight.dtype):
            low = 0.5 if weight.name.endswith({positive}) else -0.5
            numbers = np.linspace(low, low + 1.0, math.prod(weight.shape), dtype="float32")
            weight.assign(numbers.reshape(weight.shape))
'''
_ELEMENTS_TEMPLATE = '''
def elements(fill, dtype, shape):
    """Return evenly distributed numbers."""
    _, seed, low, high = fill
    return (unit(seed, shape[0]) * (high - low) + low).astype(dtype)
'''
_CALL_TEMPLATE = '''
def call(layer, *inputs):
    """Call a layer, as in training or not; of several results take the first."""
    takes = inspect.signature(type(layer).call).parameters
    output = layer(*inputs, **({{"training": {training}}} if "training" in takes else {{}}))
    return output[0] if isinstance(output, (list, tuple)) else output
'''
_TRAIN_TEMPLATE = '''
def loss_and_gradients(inputs, truth):
    """Return the mean squared error, and its gradients by weights and inputs."""
    weights = [w for layer in layers.values() for w in layer.trainable_weights]
    floating = [place for place, x in enumerate(inputs) if "float" in str(x.dtype)]

    def loss_of(tensors):
        given = list(inputs)
        for place, tensor in zip(floating, tensors):
            given[place] = tensor
        return keras.ops.mean(keras.ops.square(model(*given)[0] - truth))

    tensors = [inputs[place] for place in floating]
    if keras.backend.backend() == "torch":
        import torch

        for tensor in tensors:
            tensor.requires_grad_()
        loss = loss_of(tensors)
        sources = [w.value for w in weights] + tensors
        gradients = torch.autograd.grad(loss, sources, allow_unused=True)
        loss = loss.detach()
    elif keras.backend.backend() == "tensorflow":
        import tensorflow as tf

        with tf.GradientTape() as tape:
            tape.watch(tensors)
            loss = loss_of(tensors)
        gradients = tape.gradient(loss, [w.value for w in weights] + tensors)
    else:
        import jax

        def stateless(values, tensors):
            with keras.StatelessScope(state_mapping=list(zip(weights, values))):
                return loss_of(tensors)

        values = [w.value for w in weights]
        loss, found = jax.value_and_grad(stateless, argnums=(0, 1))(values, tensors)
        gradients = [*found[0], *found[1]]
    return [loss, *map(sampled, gradients, [w.value for w in weights] + tensors)]


def sampled(gradient, source):
    """Return a gradient's elements, of a large one evenly spaced ones."""
    if gradient is None:
        dtype = keras.backend.standardize_dtype(source.dtype)
        gradient = keras.ops.zeros(tuple(source.shape), dtype=dtype)
    flat = keras.ops.convert_to_numpy(gradient).ravel()
    return flat[:: max(1, flat.size // MOST)][:MOST]
'''
_SAVE_TEMPLATE = """
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "model.keras")
    saved.save(path)
    loaded = keras.saving.load_model(path, compile=False)
fed = inputs[0] if len(inputs) == 1 else inputs
before = keras.ops.convert_to_numpy(saved(fed, training=False))
after = keras.ops.convert_to_numpy(loaded(fed, training=False))
print("before:", before)
print("after:", after)
if before.shape != after.shape or not np.allclose(before, after, 1e-4, 1e-4, equal_nan=True):
    raise SystemExit("DIFFERENT: the saved model computes something else")
print("No difference.")
"""
_MAX_GRADIENT_ELEMENTS = 4096
"""Maximum number of elements of a gradient that a script compares."""


def model_statements(case: ModelCase, source: ScriptSource) -> tuple[list[str], list[str]]:
    """Return the source text of a run, as definitions and statements.

    Args:
        case: the case to write.
        source: the script, to which needed imports are added.

    Returns:
        Definitions, and statements that assign the result to `result`. The statements of a model
        that is saved end the script and assign nothing.

    Raises:
        ValueError: if a name in the case is not a Python identifier.
    """
    source.needs_numpy = True
    definitions = [*_definitions(case, source)]
    statements = [*_inputs(case, source), *_layers(case, source), _model(case)]
    recipes = [*_recipes(case)]
    if case.check is Check.SAVE:
        source.standard |= {"os", "tempfile"}
        symbols = ", ".join(_symbol(node) for node in case.graph.inputs)
        statements += [f"symbols = [{symbols}]", "saved = keras.Model(symbols, model(*symbols))"]
        return definitions, [*statements, *recipes, _SAVE_TEMPLATE.strip()]
    statements += ["model(*inputs)  # makes the weights", *recipes]
    if case.check is Check.TRAIN:
        truth = data_expression(case.truth, source)
        statements += [f"truth = {truth}", "result = loss_and_gradients(inputs, truth)"]
    else:
        statements.append("result = model(*inputs)")
    return definitions, statements


def comparable_outcome(case: ModelCase, outcome: Outcome, *, is_single: bool = False) -> Outcome:
    """Return the outcome of a run, reduced to the results that a script computes.

    Args:
        case: a run of a layer graph.
        outcome: the outcome of the run.
        is_single: whether the script computes one output instead of a list of outputs.
    """
    if not isinstance(outcome, Passed):
        return outcome
    try:
        parts = dict(json.loads(outcome.encoded)[2])
        if case.check is Check.TRAIN:
            samples = [
                dict(described[2])["sample"]
                for key in ("gradients", "inputs")
                for _, described in parts[key][2]
            ]
            items = [parts["loss"], *samples]
            tree: Json = ["L", "list", items, len(items)]
        else:
            tree = parts["outputs"][2][0] if is_single else parts["outputs"]
    except (IndexError, KeyError, TypeError, ValueError):
        return outcome  # a damaged record has nothing to compare
    return replace(outcome, encoded=json.dumps(tree).encode("ascii"))


def _definitions(case: ModelCase, source: ScriptSource) -> Iterator[str]:
    if _is_plain(case):
        source.standard.add("math")
        yield _WEIGH_PLAINLY_TEMPLATE.strip().format(positive=POSITIVE)
    else:
        yield _module_source(arrays, source)
        yield _STORED_TEMPLATE.strip()
        yield _WEIGH_TEMPLATE.strip()
    if any(isinstance(data, DataSample) for data in case.data):
        source.needs_unit = True
        yield _ELEMENTS_TEMPLATE.strip()
        yield _module_source(sample, source)
    source.standard.add("inspect")
    yield _CALL_TEMPLATE.strip().format(training=case.training)
    if case.check is Check.TRAIN:
        yield f"MOST = {_MAX_GRADIENT_ELEMENTS}\n\n\n{_TRAIN_TEMPLATE.strip()}"


def _is_plain(case: ModelCase) -> bool:
    return all(node.weights.plain for node in case.graph.nodes if node.layer != INPUT)


def _module_source(function: Callable[..., object], source: ScriptSource) -> str:
    """Return the source text of a function's module, without its docstring and imports.

    Its imports of the standard library are added to `source`. The caller must write the definitions
    that the module imports from ciguard.
    """
    text = inspect.getsource(sys.modules[function.__module__])
    head, _, body = text.partition("import numpy as np\n")
    for name in re.findall(r"^import (\w+)$", head, re.MULTILINE):
        source.standard.add(name)
    body = re.sub(r"  # noqa:.*|^from ciguard\..*\n", "", body, flags=re.MULTILINE)
    return f"from typing import Any, Callable, Mapping, Sequence\n\n{body.strip()}"


def _inputs(case: ModelCase, source: ScriptSource) -> Iterator[str]:
    values = ", ".join(data_expression(data, source) for data in case.data)
    yield f"inputs = [{values}]"


def data_expression(data: Data, source: ScriptSource) -> str:
    """Return the expression that creates the tensor of an input."""
    if isinstance(data, DataSample):
        call = f"sample({scalar(data.kind.value)}, {data.seed}, {shape_text(data.shape)})"
        return f"keras.ops.convert_to_tensor({call})"
    return source.expression(TensorValue(data.dtype, data.shape, data.fill))


def _layers(case: ModelCase, source: ScriptSource) -> Iterator[str]:
    dtype = f", dtype={scalar(case.dtype)}" if case.dtype else ""
    rows = [
        f"    {scalar(node.name)}: {layer_expression(node.layer, node.config, source, dtype)},"
        for node in case.graph.nodes
        if node.layer != INPUT and not node.shares
    ]
    yield "\n".join(["layers = {", *rows, "}"])


def layer_expression(
    name: str, config: Mapping[str, Json], source: ScriptSource, extra: str = ""
) -> str:
    """Return the expression that creates a layer; `extra` is a further argument after a comma."""
    named = [f"{key}={_json(item, source)}" for key, item in config.items() if is_name(key)]
    others = [f"{key!a}: {_json(item, source)}" for key, item in config.items() if not is_name(key)]
    arguments = [*named, *([f"**{{{', '.join(others)}}}"] if others else [])]
    return f"{source.name_of(name)}({', '.join(arguments)}{extra if arguments else extra[2:]})"


def _json(item: Json, source: ScriptSource) -> str:
    """Return the expression of an argument; a dictionary with `layer` is a nested layer."""
    match item:
        case {"layer": str() as name, **rest} if set(rest) <= {"config"}:
            config = rest.get("config", {})
            return layer_expression(name, config if isinstance(config, dict) else {}, source)
        case dict():
            pairs = (f"{str(key)!a}: {_json(value, source)}" for key, value in item.items())
            return f"{{{', '.join(pairs)}}}"
        case list():
            return f"[{', '.join(_json(value, source) for value in item)}]"
        case _:
            return scalar(item)


def _model(case: ModelCase) -> str:
    names = _variables(case)
    inputs = [names[node.name] for node in case.graph.inputs]
    lines = [f"def model({', '.join(inputs)}):"]
    for node in case.graph.nodes:
        if node.layer == INPUT:
            continue
        joined = ", ".join(names[source] for source in node.inputs)
        arguments = f"[{joined}]" if node.as_list else joined
        layer = f"layers[{node.shares or node.name!a}]"
        lines.append(f"    {names[node.name]} = call({layer}, {arguments})")
    outputs = ", ".join(names[name] for name in case.graph.outputs)
    return "\n".join(["", *lines, f"    return [{outputs}]", "", ""])


def _variables(case: ModelCase) -> dict[str, str]:
    """Return a unique Python name for the output of each node, by node name."""
    names: dict[str, str] = {}
    for node in case.graph.nodes:
        name = f"of_{_NOT_NAME_CHARACTERS.sub('_', node.name)}" if node.layer != INPUT else ""
        name = name or f"x{len(names)}"
        while name in names.values():
            name += "_"
        names[node.name] = name
    return names


def _recipes(case: ModelCase) -> Iterator[str]:
    encoded = {item["name"]: item for item in graph_to_json(case.graph)["nodes"]}
    for node in case.graph.nodes:
        if node.layer != INPUT and not node.shares:
            recipe = encoded[node.name].get("weights", {})
            if _is_plain(case):
                yield f"weigh(layers[{node.name!a}])"
                continue
            yield f"weigh(layers[{node.name!a}], {_wrapped_layer(node)!a}, {recipe!a})"


def _wrapped_layer(node: LayerNode) -> str:
    """Return the class of the layer that has the weights: for a wrapper, the innermost layer."""
    name, config = node.layer, node.config
    while wrapped := next(
        (item for item in config.values() if isinstance(item, dict) and "layer" in item), None
    ):
        name, config = str(wrapped["layer"]), wrapped.get("config", {})
    return name


def _symbol(node: LayerNode) -> str:
    return f"keras.Input({shape_text(node.shape)}, dtype={scalar(node.dtype)})"
