"""Converts models to graphs and back in a Keras target, and compares them; the result is JSON.

python graph_probe.py REPOSITORY FOLDER QUESTION…
"""

from __future__ import annotations

import importlib
import json
import sys
import types
from pathlib import Path
from typing import Any, Callable  # noqa: UP035 - Python 3.9 in the target

ROOT, FOLDER = Path(sys.argv[1]), Path(sys.argv[2])


def open_packages() -> None:
    for name in ("ciguard", "ciguard.execution", "ciguard.targets", "ciguard.domain"):
        package = types.ModuleType(name)
        package.__path__ = [str(Path(ROOT, *name.split(".")))]
        sys.modules[name] = package


open_packages()
import keras  # noqa: E402 - the packages of the repository come first
import numpy as np  # noqa: E402 - likewise
from keras import layers  # noqa: E402 - likewise

from ciguard.libraries.keras.in_target.configs import build_layer  # noqa: E402 - likewise
from ciguard.libraries.keras.in_target.graphs import INPUT, graph_of  # noqa: E402 - likewise

# --- models that can be written -------------------------------------------------------------------


def nested() -> Any:
    inner = keras.Sequential([keras.Input((4,)), layers.Dense(3, activation="relu")], name="inner")
    a, b = keras.Input((4,)), keras.Input((4,))
    two = keras.Model([a, b], [layers.Add()([a, b]), inner(a)], name="two")
    x, y = keras.Input((4,), name="first"), keras.Input((4,), name="second")
    added, narrowed = two([x, inner_of(x, y)])
    return keras.Model([x, y], layers.Concatenate()([added, narrowed, inner(y, training=False)]))


def inner_of(x: Any, y: Any) -> Any:
    return layers.Maximum()([x, y]) + y


def shared() -> Any:
    dense = layers.Dense(4)
    x, y = keras.Input((4,)), keras.Input((4,))
    return keras.Model([x, y], layers.Dot(1)([dense(dense(x)), dense(y)]))


def masked() -> Any:
    words = keras.Input((6,), dtype="int32")
    x = layers.Embedding(11, 4, mask_zero=True)(words)
    x = layers.Bidirectional(layers.LSTM(3, return_sequences=True))(x)
    x = layers.MultiHeadAttention(2, 3)(x, x)
    x = layers.TimeDistributed(layers.Dense(2, kernel_regularizer="l2"))(x)
    return keras.Model(words, layers.GRU(3)(layers.GaussianDropout(0.2)(x)))


def reopened() -> Any:
    path = FOLDER / "masked.keras"
    masked().save(path)
    return keras.saving.load_model(path)


def older() -> Any:
    path = FOLDER / "shared.h5"
    shared().save(path)
    return keras.saving.load_model(path, compile=False)


def odd_names() -> Any:
    x = keras.Input((3,), name="1st input")
    y = layers.Dense(3, name="a-b c")(x)
    inner = keras.Sequential([keras.Input((3,)), layers.Dense(2, name="a-b c")])
    return keras.Model(x, [inner(y), y])


def derived_defaults() -> Any:
    x = keras.Input((9, 9, 2))
    y = layers.MaxPooling2D((3, 3), strides=2)(x)
    y = layers.AveragePooling2D((2, 2), strides=(2, 2), padding="same")(y)
    y = layers.Conv2DTranspose(3, (3, 2), strides=2, activation="elu", use_bias=False)(y)
    y = layers.Conv2D(2, 1, activation=layers.LeakyReLU(0.1), bias_initializer="ones")(y)
    return keras.Model(x, layers.BatchNormalization(axis=1, epsilon=0.01)(y))


def stacked_cells() -> Any:
    cells = [layers.LSTMCell(3), layers.GRUCell(2, reset_after=False)]
    return keras.Sequential([keras.Input((5, 2)), layers.RNN(cells), layers.Dense(1)])


def deep() -> Any:
    x = first = keras.Input((1,))
    for _ in range(400):
        x = layers.Rescaling(1.0)(x)
    return keras.Model(first, x)


def state_given() -> Any:
    x, h = keras.Input((4, 2)), keras.Input((3,))
    return keras.Model([x, h], layers.GRU(3)(x, initial_state=h))


def given_as_dictionary() -> Any:
    ends = {"b": keras.Input((2,), name="b"), "a": keras.Input((3,), name="a")}
    inner = keras.Model(ends, layers.Concatenate()([ends["a"], ends["b"]]))
    x, y = keras.Input((3,)), keras.Input((2,))
    return keras.Model([x, y], inner({"a": x, "b": y}))


GOOD: tuple[Callable[[], Any], ...] = (
    *(nested, shared, masked, reopened, older, odd_names, derived_defaults, stacked_cells, deep),
    *(state_given, given_as_dictionary),
)


# --- models that cannot ---------------------------------------------------------------------------


def sequential(*chain: Any, shape: tuple[Any, ...] = (4, 2)) -> Any:
    return keras.Sequential([keras.Input(shape), *chain], name="tower")


def magnitude(x: Any) -> Any:
    return keras.ops.absolute(x)


class Penalty(keras.regularizers.Regularizer):  # type: ignore[misc]
    def __call__(self, x: Any) -> Any:
        return keras.ops.sum(magnitude(x))

    def get_config(self) -> dict[str, Any]:
        return {}


def subclassed() -> Any:
    class Own(keras.Model):  # type: ignore[misc]
        def call(self, x: Any) -> Any:
            return x

    return Own(name="tower")


def own_layer() -> Any:
    class Own(layers.Layer):  # type: ignore[misc]
        def call(self, x: Any) -> Any:
            return x

    return sequential(Own(name="odd"))


def states() -> Any:
    x = keras.Input((4, 2))
    return keras.Model(x, layers.LSTM(3, return_state=True, name="odd")(x)[1], name="tower")


def operation() -> Any:
    x = keras.Input((4, 2))
    return keras.Model(x, keras.ops.exp(x), name="tower")


def sum_of(x: Any, y: Any) -> Any:
    return keras.Model([x, y], x + y, name="tower")


def always_training() -> Any:
    x = keras.Input((4, 2))
    return keras.Model(x, layers.Dropout(0.5, name="odd")(x, training=True), name="tower")


def states_given() -> Any:
    x, h, c = keras.Input((4, 2)), keras.Input((3,)), keras.Input((3,))
    y = layers.LSTM(3, name="odd")(x, initial_state=[h, c])
    return keras.Model([x, h, c], y, name="tower")


def tied() -> Any:
    """Build a layer around the kernel of another one."""
    one, other = layers.Dense(2, use_bias=False), layers.Dense(2, use_bias=False, name="odd")
    model = sequential(one, other)
    store = other._tracker.config["trainable_variables"][1]
    store[:] = [one.kernel]
    return model


BAD: dict[str, Callable[[], Any]] = {
    "subclassed model": subclassed,
    "own layer": own_layer,
    "lambda": lambda: sequential(layers.Lambda(abs, name="odd")),
    "several outputs": states,
    "operation": operation,
    "training": always_training,
    "ranks": lambda: sum_of(keras.Input((4, 2)), keras.Input((2,))),
    "initial states": states_given,
    "dynamic": lambda: sequential(layers.Dense(2), shape=(None, 2)),
    "not built": lambda: keras.Sequential([layers.Dense(2)], name="tower"),
    "own activation": lambda: sequential(layers.Dense(2, activation=magnitude, name="odd")),
    "own regulariser": lambda: sequential(
        layers.Dense(2, kernel_regularizer=Penalty(), name="odd")
    ),
    "dtype": lambda: sequential(layers.Dense(2, dtype="mixed_float16", name="odd")),
    "text": lambda: keras.Model(*[keras.Input((1,), dtype="string", name="odd")] * 2, name="tower"),
    "tied": tied,
}


# --- making a model from its graph ----------------------------------------------------------------


def rebuilt(graph: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    tensors: dict[str, Any] = {}
    own: dict[str, Any] = {}
    for node in graph["nodes"]:
        name, given = node["name"], [tensors[name] for name in node.get("inputs", ())]
        if node["layer"] == INPUT:
            tensors[name] = keras.Input(node["shape"], dtype=node.get("dtype", "float32"))
            continue
        own[name] = own[node["shares"]] if "shares" in node else layer_of(node)
        tensors[name] = own[name](given) if node.get("as_list") else own[name](*given)
    inputs = [tensors[n["name"]] for n in graph["nodes"] if n["layer"] == INPUT]
    return keras.Model(inputs, [tensors[name] for name in graph["outputs"]]), own


def layer_of(node: dict[str, Any]) -> Any:
    return build_layer(getattr(layers, node["layer"].rpartition(".")[2]), node.get("config", {}))


def stored_layer(model: Any, path: str) -> Any:
    for name in path.split("/"):
        model = model.get_layer(name)
    return model


def compared(model: Any) -> dict[str, Any]:
    graph = json.loads(json.dumps(graph_of(model, file="where it was")))
    again, own = rebuilt(graph)
    for node in graph["nodes"]:
        if "weights" in node:
            stored = stored_layer(model, node["weights"]["stored"])
            own[node["name"]].set_weights(stored.get_weights())
    feeds = [feed(tensor) for tensor in model.inputs]
    expected = [np.array(one) for one in outputs_of(model, feeds)]
    found = [np.array(one) for one in outputs_of(again, feeds)]
    return {
        "graph": graph,
        "parameters": [model.count_params(), again.count_params()],
        "shapes": [[list(one.shape) for one in expected], [list(one.shape) for one in found]],
        "same": all(np.array_equal(a, b) for a, b in zip(expected, found)),  # noqa: B905 - Python 3.9
    }


def feed(tensor: Any) -> Any:
    shape = [2, *tensor.shape[1:]]
    random = np.random.RandomState(0)
    if "int" in str(tensor.dtype):
        return keras.ops.convert_to_tensor(random.randint(0, 4, shape).astype(str(tensor.dtype)))
    return keras.ops.convert_to_tensor(random.random_sample(shape).astype("float32"))


def outputs_of(model: Any, feeds: list[Any]) -> list[Any]:
    outputs = model(feeds if len(feeds) > 1 else feeds[0], training=False)
    listed = outputs if isinstance(outputs, (list, tuple)) else [outputs]
    return [keras.ops.convert_to_numpy(one) for one in listed]


# --- questions ------------------------------------------------------------------------------------


def seeds(width: str) -> dict[str, Any]:
    """Compare each shipped seed with what is made of its graph."""
    folder = ROOT / "seeds" / "models" / "keras"
    sys.path.insert(0, str(folder))
    found = {}
    for path in sorted(folder.glob("*.py")):
        keras.utils.clear_session()
        module = importlib.import_module(path.stem)
        found[path.stem] = {**compared(module.build(float(width))), "name": module.NAME}
    return found


def sizes() -> dict[str, Any]:
    """Count the parameters of each shipped seed at its published size."""
    folder = ROOT / "seeds" / "models" / "keras"
    sys.path.insert(0, str(folder))
    found = {}
    for path in sorted(folder.glob("*.py")):
        keras.utils.clear_session()
        model = importlib.import_module(path.stem).build()
        found[model.name] = [model.count_params(), len(graph_of(model)["nodes"])]
    return found


def good() -> dict[str, Any]:
    """Compare models of every kind with what is made of their graphs."""
    found = {}
    for build in GOOD:
        keras.utils.clear_session()
        found[build.__name__] = compared(build())
    return found


def bad() -> dict[str, str]:
    """Return why each model is refused; empty if it is not."""
    found = {}
    for name, build in BAD.items():
        keras.utils.clear_session()
        model = build()
        try:
            graph_of(model)
        except ValueError as error:
            found[name] = str(error)
        else:
            found[name] = ""
    return found


def files() -> dict[str, Any]:
    """Save a model in both formats; return what each file computes for an input of ones."""
    lower = keras.Sequential([keras.Input((4,)), layers.Dense(4, name="out")], name="lower")
    upper = keras.Sequential([keras.Input((4,)), layers.Dense(4, name="out")], name="upper")
    top = layers.Dense(3, "softmax", name="out")
    model = keras.Sequential([keras.Input((4,)), lower, upper, top], name="m")
    found = {}
    for name in ("tower.keras", "tower.h5"):
        model.save(FOLDER / name)
        (output,) = outputs_of(model, [keras.ops.ones((1, 4))])
        found[name] = output.ravel().tolist()
    return found


if __name__ == "__main__":
    questions: dict[str, Callable[..., Any]] = {
        "seeds": seeds,
        "sizes": sizes,
        "good": good,
        "bad": bad,
        "files": files,
    }
    sys.stdout.write("\n" + json.dumps(questions[sys.argv[3]](*sys.argv[4:])) + "\n")
