"""Script templates of TensorFlow's tensors, dtypes and seeds."""

from __future__ import annotations

from ciguard.libraries.scripts import Writer
from ciguard.libraries.tensorflow.in_target.options import OPTIONS

_GRADIENTS = """
def weighted_sum(tensor):
    count = tf.size(tensor)
    share = tf.cast(tf.range(count), tf.float64) / tf.cast(tf.maximum(count - 1, 1), tf.float64)
    weights = tf.reshape(tf.cast(0.5 + share, tensor.dtype), tf.shape(tensor))
    return tf.cast(tf.reduce_sum(tensor * weights), tf.float64)


def with_gradients(*tensors, function=graph):
    inputs = [x for x in tensors if x.dtype.is_floating]
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        result = function(*tensors)
        parts = [part for part in tf.nest.flatten(result) if tf.is_tensor(part)]
        terms = [weighted_sum(part) for part in parts if part.dtype.is_floating]
    gradients = tape.gradient(terms, inputs) if terms and inputs else []
    return [result, [None if g is None else tf.convert_to_tensor(g) for g in gradients]]


graph = with_gradients
{run}
"""

SCRIPT = Writer(
    imports=("import tensorflow as tf",),
    aliases={"tensorflow": "tf"},
    dtype="tf.{name}",
    literal="tf.constant({data}, dtype={dtype})",
    full="tf.constant({value}, shape={shape}, dtype={dtype})",
    zeros="tf.zeros({shape}, dtype={dtype})",
    from_array="tf.constant({array})",
    cast="tf.cast({tensor}, {dtype})",
    seed="tf.random.set_seed({seed})",
    modes={
        "function": ("{options}", "result = tf.function({call})({row})"),
        "xla": ("", "result = tf.function({call}, jit_compile=True)({row})"),
    },
    options={
        name: f"tf.config.optimizer.set_experimental_options({options!r})"
        for name, options in OPTIONS.items()
    },
    gradients=_GRADIENTS,
    builds_layers_late=True,
    is_tensor="isinstance(value, (tf.Tensor, tf.Variable))",
    read=("value.dtype.name", "value.numpy().ravel().tolist()"),
)
