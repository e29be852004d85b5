"""Twenty functions from simple to hard, annotated; each has branches that only some inputs take."""

import math

import numpy as np
import numpy.typing as npt

from ciguard.annotations import (
    anys,
    arg,
    bools,
    dicts,
    exclude,
    floats,
    froms,
    generator,
    int_lists,
    ints,
    np_arrays,
    np_shapes,
    objs,
    ref,
    require,
    strings,
    tuples,
)

Floats = npt.NDArray[np.float32]
Labels = npt.NDArray[np.int64]


@arg("value", ints(min=0, max=255))
@arg("invert", bools())
@arg("mode", froms(["same", "half", "double"]))
def scaled(value: int, invert: bool, mode: str) -> int:
    """Change the brightness of a pixel."""
    if invert:
        value = 255 - value
    if mode == "half":
        return value // 2
    return min(255, 2 * value) if mode == "double" else value


@arg("rate", floats(min=0, max=1, exclude_min=True, exclude_max=True))
@arg("decay", floats(min=1e-4, max=1e-2))
@arg("step", ints(min=0, max=10_000))
def annealed(rate: float, decay: float, step: int) -> float:
    """Return a learning rate after some steps."""
    if step < 100:
        return rate * step / 100
    left = rate * math.exp(-decay * step)
    return max(left, 1e-6)


@arg("sizes", int_lists(min_len=1, max_len=6, min=1, max=512))
@arg("classes", ints(min=2, max=100))
def parameters(sizes: list[int], classes: int) -> int:
    """Count the weights of a perceptron."""
    total = 0
    for first, second in zip(sizes, [*sizes[1:], classes], strict=True):
        total += first * second + second
        if second > first:
            total += second
    return -1 if total > 500_000 else total


@arg("name", strings(pattern="[a-z]{1,6}_[0-9]{1,2}"))
@arg("prefix", strings(max_len=4, alphabet="abc/"))
def layer_index(name: str, prefix: str) -> int:
    """Return the number in the name of a layer."""
    kind, _, number = name.partition("_")
    if prefix.endswith("/"):
        return -int(number)
    return int(number) if len(kind) > 2 else 0


@arg("options", dicts(froms(["width", "depth", "heads"]), ints(min=1, max=64), min_size=1))
@arg("strict", bools())
def configured(options: dict[str, int], strict: bool) -> int:
    """Return the size of a model with some options."""
    size = options.get("width", 8) * options.get("depth", 2)
    if "heads" in options and size % options["heads"]:
        return 0 if strict else size - size % options["heads"]
    return size


@arg("low", ints(min=0, max=1000))
@arg("high", ints(min=0, max=1000))
@require("low < high")
def cropped(low: int, high: int) -> int:
    """Return the middle of a range."""
    if high - low == 1:
        return low
    return (low + high) // 2 if high < 900 else high


@arg("total", ints(min=1, max=1000))
@arg("train", ints(min=0, max=1000))
@arg("valid", ints(min=0, max=1000))
@require("train + valid <= total")
@require("valid <= train")
def divided(total: int, train: int, valid: int) -> list[int]:
    """Divide samples into three parts."""
    test = total - train - valid
    if test == 0:
        return [train, valid]
    return [train, test] if valid == 0 else [train, valid, test]


@arg("width", ints(min=8, max=512))
@arg("heads", ints(min=2, max=16))
@require("width % heads == 0")
def head_size(width: int, heads: int) -> int:
    """Return the size of each head of attention."""
    size = width // heads
    if size % 2:
        return size + 1
    return min(size, 64)


@arg("inputs", ints(min=1, max=256))
@arg("outputs", ints(min=1, max=256))
@arg("groups", ints(min=2, max=32))
@require("inputs % groups == 0 and outputs % groups == 0")
def group_weights(inputs: int, outputs: int, groups: int) -> int:
    """Count the weights of a convolution with groups."""
    if groups == inputs:
        return outputs * 9
    if inputs > outputs:
        return inputs // groups * outputs
    return inputs * outputs * 9 // groups


@arg("input_shape", tuples(ints(min=20, max=70), ints(min=20, max=70), ints(min=1, max=3)))
@arg("dense_blocks", ints(min=2, max=5))
@arg("dense_layers", anys(-1, ints(min=1, max=5), int_lists(min_len=2, max_len=5, min=2, max=5)))
@arg("dropout_rate", floats(min=0, max=1, exclude_min=True, exclude_max=True))
@arg("compression", floats(min=0, max=1, exclude_min=True))
@arg("depth", ints(min=10, max=100))
@require("type(dense_layers) is not list or len(dense_layers) == dense_blocks")
def dense_net(
    input_shape: tuple[int, int, int],
    dense_blocks: int,
    dense_layers: int | list[int],
    dropout_rate: float,
    compression: float,
    depth: int,
) -> int:
    """Count the layers and channels of the paper's DenseNet."""
    if isinstance(dense_layers, list):
        layers = dense_layers
    elif dense_layers == -1:
        layers = [(depth - 4) // 3] * dense_blocks
    else:
        layers = [dense_layers] * dense_blocks
    channels = 2 * input_shape[2]
    for count in layers:
        channels = int((channels + 12 * count) * compression)
        if channels > 100 and dropout_rate > 0.5:
            return 100
    return channels


@arg("depth", ints(min=1, max=6))
@arg("widths", int_lists(min_len=1, max_len=6, min=1, max=64))
@arg("active", np_shapes(min_dims=1, max_dims=6, max_side=3))
@require("len(widths) == depth")
@require("len(active) == depth")
def stacked(depth: int, widths: list[int], active: tuple[int, ...]) -> int:
    """Return the cost of a stack of layers."""
    cost = 0
    for level in range(depth):
        if active[level] == 3:
            cost += 2 * widths[level]
        elif active[level] == 2 and widths[level] > 8:
            cost += widths[level]
    return cost


@arg("values", int_lists(min_len=1, max_len=20, min=0, max=9))
@arg("size", ints(min=1, max=20))
@arg("stride", ints(min=1, max=5))
@require("size <= len(values)")
@require("(len(values) - size) % stride == 0")
def windows(values: list[int], size: int, stride: int) -> list[int]:
    """Return the sums of windows."""
    if size == len(values):
        return [sum(values)]
    sums = [sum(values[i : i + size]) for i in range(0, len(values) - size + 1, stride)]
    return sums if stride < size else sums[::-1]


@arg("size", ints(min=1, max=224))
@arg("kernel", ints(min=1, max=11))
@arg("stride", ints(min=1, max=4))
@arg("padding", ints(min=0, max=5))
@arg("dilation", ints(min=1, max=4))
@require("padding <= kernel // 2")
@require("size + 2 * padding >= dilation * (kernel - 1) + 1")
@require("(size + 2 * padding - dilation * (kernel - 1) - 1) % stride == 0")
def convolved(size: int, kernel: int, stride: int, padding: int, dilation: int) -> int:
    """Return the size of what a convolution returns."""
    out = (size + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1
    if out == 1:
        return 1
    if dilation > 1 and stride > 1:
        return -out
    return size if out == size else out


@arg("shape", np_shapes(min_dims=2, max_dims=4, max_side=5))
@arg("axes", int_lists(min_len=2, max_len=4, min=0, max=3))
@require("len(axes) == len(shape)")
@require("sorted(axes) == list(range(len(shape)))")
def permuted(shape: tuple[int, ...], axes: list[int]) -> tuple[int, ...]:
    """Return a shape with its axes in another order."""
    if axes == sorted(axes):
        return shape
    turned = tuple(shape[axis] for axis in axes)
    return turned if turned[-1] > 1 else turned[:-1]


@arg("first", np_arrays("float32", np_shapes(min_dims=1, max_dims=3, max_side=4), min=-9, max=9))
@arg("second", np_arrays("float32", ref("first.shape"), min=-9, max=9))
def distance(first: Floats, second: Floats) -> float:
    """Return how far two arrays are apart."""
    if first.ndim == 1:
        return float(np.abs(first - second).max())
    apart = float(((first - second) ** 2).mean())
    return apart if apart < 50 else 50.0


@arg("left", np_arrays("float32", (ints(1, 6), ints(1, 6)), min=-9, max=9))
@arg("right", np_arrays("float32", (ints(1, 6), ints(1, 6)), min=-9, max=9))
@arg("bias", np_arrays("float32", (ints(1, 6),), min=-1, max=1))
@require("left.shape[1] == right.shape[0] and bias.shape[0] == right.shape[1]")
def dense(left: Floats, right: Floats, bias: Floats) -> Floats:
    """Return what a dense layer returns."""
    out: Floats = left @ right + bias
    if out.shape[1] == 1:
        return out[:, 0]
    return out if float(out.max()) > 0 else -out


@arg("classes", ints(min=2, max=6))
@arg("logits", np_arrays("float32", (ints(1, 8), ref("classes")), min=-9, max=9))
@arg("labels", np_arrays("int64", (ref("len(logits)"),), min=0, max=ref("classes - 1")))
def cross_entropy(classes: int, logits: Floats, labels: Labels) -> float:
    """Return the loss of a classifier."""
    shifted = logits - logits.max(axis=1, keepdims=True)
    logs = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    if classes == 2:
        return float(-logs[:, 1].mean())
    picked = logs[np.arange(len(labels)), labels]
    return 0.0 if bool((labels == 0).all()) else float(-picked.mean())


class Model:
    """A layer with some inputs and outputs."""

    def __init__(self, inputs: int, outputs: int) -> None:
        self.inputs = inputs
        self.outputs = outputs


@generator
@exclude
@arg("inputs", ints(min=1, max=6))
@arg("outputs", ints(min=1, max=6))
def models(inputs: int, outputs: int) -> Model:
    """Make a model."""
    return Model(inputs, outputs)


@arg("model", objs(models))
@arg("batch", np_arrays("float32", (ints(1, 8), ints(1, 6)), min=-9, max=9))
@require("batch.shape[1] == model.inputs")
def trained(model: Model, batch: Floats) -> float:
    """Return the loss of a model of all ones."""
    out = batch.sum(axis=1)
    if model.outputs == 1:
        return float(out.mean())
    return float(out.max()) if model.inputs > 3 else float(out.min())


@arg("query", np_arrays("float32", (ints(1, 3), ints(1, 6), ints(2, 12)), min=-9, max=9))
@arg("key", np_arrays("float32", (ints(1, 3), ints(1, 6), ints(2, 12)), min=-9, max=9))
@arg("value", np_arrays("float32", (ints(1, 3), ints(1, 6), ints(2, 12)), min=-9, max=9))
@arg("heads", ints(min=1, max=4))
@require("query.shape[0] == key.shape[0] and query.shape[2] == key.shape[2]")
@require("value.shape[:2] == key.shape[:2]")
@require("query.shape[2] % heads == 0 and value.shape[2] % heads == 0")
def attention(query: Floats, key: Floats, value: Floats, heads: int) -> Floats:
    """Return what attention returns, without its softmax."""
    scores = np.einsum("bnd,bmd->bnm", query, key) / math.sqrt(query.shape[2] // heads)
    out: Floats = scores @ value
    if query.shape[1] == 1:
        return out[:, 0]
    return out if heads > 1 else out[:, ::-1]


@arg("image", np_arrays("float32", (ints(4, 64), ints(4, 64), ints(1, 3)), min=0, max=1))
@arg("depth", ints(min=1, max=4))
@arg("filters", int_lists(min_len=1, max_len=4, min=1, max=8))
@require("image.shape[0] % 2 ** depth == 0 and image.shape[1] % 2 ** depth == 0")
@require("len(filters) == depth and all(b >= a for a, b in zip(filters, filters[1:]))")
def pyramid(image: Floats, depth: int, filters: list[int]) -> list[int]:
    """Return the sizes of the levels of a U-Net."""
    found = []
    for level in range(depth):
        size = image.shape[0] // 2 ** (level + 1)
        found.append(size * filters[level])
        if size == 1:
            return found
    return found if image.shape[2] == 3 else found[::-1]
