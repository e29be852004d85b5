"""Layers of one's own for Keras, with the settings that they are made from."""

import abc
from dataclasses import dataclass

import keras
from keras import activations, ops

from ciguard.annotations import (
    anys,
    arg,
    bools,
    ensure,
    floats,
    froms,
    ints,
    np_arrays,
    objs,
    require,
    tensors,
)


@arg("units", ints(min=1, max=8))
@arg("dropout", anys(None, floats(min=0, max=0.9)))
@arg("activation", froms(["tanh", "relu", None]))
@dataclass
class Settings:
    units: int
    dropout: float = None
    activation: str = None

    @arg("scale", ints(min=1, max=4))
    @ensure("result.units == self.units * scale")
    def widened(self, scale):
        return Settings(self.units * scale, self.dropout, self.activation)


class Pooling(keras.layers.Layer, abc.ABC):
    """What all ways to make one vector of a sequence share."""

    @abc.abstractmethod
    def call(self, inputs): ...

    def compute_output_shape(self, input_shape):
        return (input_shape[0], input_shape[-1])


class AttentionPooling(Pooling):
    @arg("settings", objs(Settings))
    @arg("use_bias", bools())
    def __init__(self, settings, use_bias=True):
        super().__init__()
        self.units = settings.units
        self.activation = activations.get(settings.activation)
        self.dropout = keras.layers.Dropout(settings.dropout or 0.0)
        self.use_bias = use_bias

    def build(self, input_shape):
        self.kernel = self.add_weight(name="kernel", shape=(input_shape[-1], self.units))
        if self.use_bias:
            self.bias = self.add_weight(name="bias", shape=(self.units,), initializer="zeros")
        self.query = self.add_weight(name="query", shape=(self.units, 1))

    @arg("inputs", np_arrays("float32", (ints(1, 4), ints(1, 6), ints(1, 5)), min=-2, max=2))
    @ensure("result.shape == (inputs.shape[0], inputs.shape[2])")
    def call(self, inputs):
        scores = ops.matmul(inputs, self.kernel)
        if self.use_bias:
            scores = scores + self.bias
        weights = ops.softmax(ops.matmul(self.activation(scores), self.query), axis=1)
        return ops.sum(self.dropout(weights) * inputs, axis=1)


class Normalisation(keras.layers.Layer):
    @arg("width", ints(min=1, max=6))
    @arg("epsilon", floats(min=1e-6, max=1e-2))
    def __init__(self, width, epsilon=1e-3):
        super().__init__()
        self.width = width
        self.epsilon = epsilon
        self.gain = self.add_weight(name="gain", shape=(width,), initializer="ones")

    @arg("x", tensors("float32", (ints(1, 3), ints(1, 4), ints(1, 6)), min=-5, max=5))
    @require("x.shape[2] == self.width")
    def call(self, x):
        centred = x - ops.mean(x, axis=-1, keepdims=True)
        deviation = ops.std(x, axis=-1, keepdims=True)
        return self.gain * centred / (deviation + self.epsilon)
