"""Forty TensorFlow calls on small arguments. Runs in the target: `python tensorflow_calls.py …`.

Arguments are numpy arrays where a user would pass them, so that no tensor exists before a fork.
"""

from __future__ import annotations

import numpy as np
import tensorflow as tf

X = np.linspace(-1.0, 1.0, 12, dtype=np.float32).reshape(3, 4)
Y = np.linspace(0.5, 2.0, 12, dtype=np.float32).reshape(3, 4)
S = (X[:, :3] @ X[:, :3].T + 2 * np.eye(3)).astype(np.float32)
I = np.arange(12, dtype=np.int32).reshape(3, 4)  # noqa: E741 - integers
IMAGE = np.linspace(-1.0, 1.0, 50, dtype=np.float32).reshape(1, 5, 5, 2)
KERNEL = np.linspace(-1.0, 1.0, 54, dtype=np.float32).reshape(3, 3, 2, 3)

CALLS = {
    "tensorflow.add": lambda: tf.add(X, Y),
    "tensorflow.subtract": lambda: tf.subtract(X, Y),
    "tensorflow.multiply": lambda: tf.multiply(X, Y),
    "tensorflow.divide": lambda: tf.divide(X, Y),
    "tensorflow.pow": lambda: tf.pow(Y, 2.0),
    "tensorflow.abs": lambda: tf.abs(X),
    "tensorflow.exp": lambda: tf.exp(X),
    "tensorflow.math.log": lambda: tf.math.log(Y),
    "tensorflow.sqrt": lambda: tf.sqrt(Y),
    "tensorflow.sin": lambda: tf.sin(X),
    "tensorflow.tanh": lambda: tf.tanh(X),
    "tensorflow.sigmoid": lambda: tf.sigmoid(X),
    "tensorflow.maximum": lambda: tf.maximum(X, Y),
    "tensorflow.clip_by_value": lambda: tf.clip_by_value(X, -0.5, 0.5),
    "tensorflow.reduce_sum": lambda: tf.reduce_sum(X, 1),
    "tensorflow.reduce_mean": lambda: tf.reduce_mean(X, 0),
    "tensorflow.reduce_max": lambda: tf.reduce_max(X, 1),
    "tensorflow.argmax": lambda: tf.argmax(X, 1),
    "tensorflow.cumsum": lambda: tf.cumsum(X, 1),
    "tensorflow.sort": lambda: tf.sort(X),
    "tensorflow.nn.top_k": lambda: tf.nn.top_k(X, 2),
    "tensorflow.matmul": lambda: tf.matmul(X, Y, transpose_b=True),
    "tensorflow.concat": lambda: tf.concat([X, Y], 0),
    "tensorflow.stack": lambda: tf.stack([X, Y]),
    "tensorflow.reshape": lambda: tf.reshape(X, [4, 3]),
    "tensorflow.transpose": lambda: tf.transpose(X),
    "tensorflow.reverse": lambda: tf.reverse(X, [0]),
    "tensorflow.roll": lambda: tf.roll(X, 1, 0),
    "tensorflow.where": lambda: tf.where(X > 0, X, Y),
    "tensorflow.gather": lambda: tf.gather(X, [0, 2]),
    "tensorflow.bitwise.bitwise_and": lambda: tf.bitwise.bitwise_and(I, I),
    "tensorflow.linalg.det": lambda: tf.linalg.det(S),
    "tensorflow.nn.relu": lambda: tf.nn.relu(X),
    "tensorflow.nn.elu": lambda: tf.nn.elu(X),
    "tensorflow.nn.softmax": lambda: tf.nn.softmax(X),
    "tensorflow.nn.bias_add": lambda: tf.nn.bias_add(X, Y[0]),
    "tensorflow.nn.conv2d": lambda: tf.nn.conv2d(IMAGE, KERNEL, 1, "SAME"),
    "tensorflow.nn.max_pool2d": lambda: tf.nn.max_pool2d(IMAGE, 2, 2, "VALID"),
    "tensorflow.nn.avg_pool2d": lambda: tf.nn.avg_pool2d(IMAGE, 2, 2, "VALID"),
    "tensorflow.pad": lambda: tf.pad(X, [[1, 1], [0, 0]]),
}

if __name__ == "__main__":
    from measure import main

    main(CALLS)
