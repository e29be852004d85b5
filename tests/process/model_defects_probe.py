"""Plants the defects of layers into Keras and tells what they do. Runs in an environment."""

from __future__ import annotations

import importlib
import json
import os
import sys
from typing import Any, Callable  # noqa: UP035 - Python 3.9 in the target

sys.path.insert(0, sys.argv[1])
os.environ["KERAS_BACKEND"] = "torch"

np: Any = importlib.import_module("numpy")
keras: Any = importlib.import_module("keras")
torch: Any = importlib.import_module("torch")
L: Any = keras.layers


def numbers(*shape: int) -> Any:
    """Return numbers between -2 and 2."""
    return np.random.default_rng(0).uniform(-2, 2, shape).astype("float32")


IMAGES, STEPS, VECTORS = numbers(2, 5, 4, 3), numbers(2, 5, 3), numbers(2, 4)
TOKENS = np.array([[0, 2, 1]])
SHOWS: dict[str, tuple[Callable[[], Any], Any]] = {
    "batch-epsilon": (L.BatchNormalization, VECTORS),
    "conv2d-same": (lambda: L.Conv2D(2, 2, padding="same"), IMAGES),
    "lstm-transposed": (lambda: L.LSTM(3), STEPS),
    "average-border": (lambda: L.AveragePooling2D(2, padding="same"), IMAGES),
    "selu-is-elu": (lambda: L.Dense(3, activation="selu"), VECTORS),
    "layer-norm-axis": (L.LayerNormalization, STEPS),
    "upsampling-swapped": (L.UpSampling2D, IMAGES),
    "both-ways-order": (lambda: L.Bidirectional(L.SimpleRNN(2)), STEPS),
    "embedding-shift": (lambda: L.Embedding(4, 2), TOKENS),
    "pool-rounds-up": (L.MaxPooling2D, IMAGES),
    "softmax-overflow": (L.Softmax, 100 * VECTORS),
    "conv1d-dilation": (lambda: L.Conv1D(2, 2, dilation_rate=2, padding="same"), STEPS),
    "gru-go-backwards": (lambda: L.GRU(3, go_backwards=True), STEPS),
    "max-border": (lambda: L.MaxPooling1D(2, padding="same"), -abs(STEPS)),
    "gelu-exact": (lambda: L.Activation("gelu"), VECTORS),
    "attention-scale": (lambda: L.MultiHeadAttention(2, 3), [STEPS, STEPS]),
    "separable-transposed": (lambda: L.SeparableConv2D(3, 2), IMAGES),
    "prelu-sign": (lambda: L.PReLU(alpha_initializer="ones"), VECTORS),
    "cropping-swapped": (lambda: L.Cropping2D(((0, 0), (0, 1))), IMAGES),
    "global-max-negative": (L.GlobalMaxPooling2D, -abs(IMAGES)),
    "rms-half": (L.RMSNormalization, VECTORS),
    "depthwise-stride": (lambda: L.DepthwiseConv2D(2, strides=2), IMAGES),
    "transpose-crop": (lambda: L.Conv2DTranspose(2, 2, strides=2, padding="same"), IMAGES),
    "simple-rnn-bias": (lambda: L.SimpleRNN(3, bias_initializer="ones"), STEPS),
    "padding-swapped": (lambda: L.ZeroPadding2D(((0, 1), (0, 0))), IMAGES),
    "conv-lstm-gate": (lambda: L.ConvLSTM1D(2, 2), IMAGES),
    "concatenate-order": (L.Concatenate, [VECTORS, 2 * VECTORS]),
    "dot-normalize": (lambda: L.Dot(1, normalize=True), [VECTORS, VECTORS + 1]),
    "elu-alpha": (lambda: L.ELU(0.5), VECTORS),
    "minimum-nan": (L.Minimum, [VECTORS, 0 * VECTORS]),
    "permute-refused": (lambda: L.Permute((2, 1, 3)), IMAGES),
    "rescaling-dtype": (lambda: L.Rescaling(0.5), VECTORS),
    "repeat-short": (lambda: L.RepeatVector(4), VECTORS),
}
ORDINARY: dict[str, tuple[Callable[[], Any], Any]] = {
    "conv2d-same": (lambda: L.Conv2D(2, 3, padding="same"), IMAGES),
    "average-border": (lambda: L.AveragePooling2D(2), IMAGES),
    "selu-is-elu": (lambda: L.Dense(3, activation="elu"), VECTORS),
    "layer-norm-axis": (L.LayerNormalization, VECTORS),
    "both-ways-order": (lambda: L.Bidirectional(L.SimpleRNN(2), merge_mode="sum"), STEPS),
    "pool-rounds-up": (L.MaxPooling2D, IMAGES[:, :4]),
    "softmax-overflow": (L.Softmax, VECTORS),
    "conv1d-dilation": (lambda: L.Conv1D(2, 2), STEPS),
    "gru-go-backwards": (lambda: L.GRU(3), STEPS),
    "max-border": (lambda: L.MaxPooling1D(2), -abs(STEPS)),
    "cropping-swapped": (lambda: L.Cropping2D(1), IMAGES),
    "global-max-negative": (L.GlobalMaxPooling2D, abs(IMAGES)),
    "depthwise-stride": (lambda: L.DepthwiseConv2D(2), IMAGES),
    "transpose-crop": (lambda: L.Conv2DTranspose(2, 3, padding="same"), IMAGES),
    "dot-normalize": (lambda: L.Dot(1), [VECTORS, VECTORS]),
    "elu-alpha": (L.ELU, VECTORS),
    "permute-refused": (lambda: L.Permute((2, 1)), STEPS),
    "repeat-short": (lambda: L.RepeatVector(3), VECTORS),
    "save-slope": (L.LeakyReLU, VECTORS),
    "subtract-gradient": (L.Subtract, [VECTORS, 2 * VECTORS]),
    "unit-norm-gradient": (L.UnitNormalization, VECTORS),
    "group-norm-crash": (lambda: L.GroupNormalization(1), IMAGES),
    "masking-hang": (L.Masking, STEPS[:, :, :1]),
}


def computed(layer: Any, given: Any) -> Any:
    """Return what comes out: type, shape and values, or the error."""
    keras.utils.set_random_seed(0)
    inputs = [*map(torch.tensor, given)] if isinstance(given, list) else torch.tensor(given)
    is_two = type(layer).__name__ == "MultiHeadAttention"
    try:
        with torch.no_grad():
            output = layer(*inputs) if is_two else layer(inputs)
    except ValueError as error:
        return type(error).__name__
    return [str(output.dtype), [*output.shape], output.double().flatten().tolist()]


def alike(one: Any, other: Any) -> bool:
    if isinstance(one, str) or isinstance(other, str):
        return bool(one == other)
    return one[:2] == other[:2] and bool(np.allclose(one[2], other[2], rtol=1e-5))


def slopes() -> dict[str, Any]:
    """Return the gradients that two defects change."""
    found = {}
    for name, layer in (("subtract-gradient", L.Subtract()), ("unit", L.UnitNormalization())):
        given = torch.tensor(VECTORS, requires_grad=True)
        output = layer([given * 3, given]) if name != "unit" else layer(given)
        (output**2).sum().backward()
        found[name] = given.grad.flatten().tolist()
    return found


def ended(layer: Any, given: Any) -> bool:
    """Return whether a call ends the process."""
    child = os.fork()
    if not child:
        layer(torch.tensor(given))
        os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


made = {name: (make(), given) for name, (make, given) in SHOWS.items()}
plain = {name: (make(), given) for name, (make, given) in ORDINARY.items()}
before = {name: computed(*one) for name, one in made.items()}
usual = {name: computed(*one) for name, one in plain.items()}
right_slopes = slopes()
door: Any = importlib.import_module("model_defects")
importlib.import_module("model_defects.planting").plant(one.name for one in door.DEFECTS)
wrong_slopes = slopes()
answer = {
    "shows": sorted(name for name, one in made.items() if not alike(before[name], computed(*one))),
    "expected": sorted(made),
    "changed": sorted(n for n, one in plain.items() if not alike(usual[n], computed(*one))),
    "slopes": [name for name in right_slopes if right_slopes[name] != wrong_slopes[name]],
    "saved": sorted(L.LeakyReLU(negative_slope=0.7).get_config()),
    "ended": [ended(L.GroupNormalization(1), STEPS), ended(L.GroupNormalization(1), IMAGES)],
    "untold": sorted({one.name for one in door.DEFECTS} - set(made) - set(plain)),
}
sys.stdout.write(json.dumps(answer))
