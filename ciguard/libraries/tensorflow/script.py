"""Script templates of TensorFlow's tensors, dtypes and seeds."""

from __future__ import annotations

from ciguard.libraries.scripts import Writer

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
        "function": ("", "result = tf.function({call})({row})"),
        "xla": ("", "result = tf.function({call}, jit_compile=True)({row})"),
    },
    builds_layers_late=True,
    is_tensor="isinstance(value, (tf.Tensor, tf.Variable))",
    read=("value.dtype.name", "value.numpy().ravel().tolist()"),
)
