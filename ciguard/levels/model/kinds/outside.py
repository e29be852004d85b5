"""Public layers that a functional graph of floating-point tensors cannot contain, and why."""

OUTSIDE = {
    "Layer": "base class of all layers; computes nothing",
    "Wrapper": "base class of layers that wrap another; computes nothing",
    "InputLayer": "an input of the graph, which takes no other layer's output",
    "Lambda": "its argument is a Python function, which is not data",
    "FlaxLayer": "wraps a module of Flax; one backend only",
    "JaxLayer": "wraps functions of JAX; one backend only",
    "TFSMLayer": "wraps a saved TensorFlow model; one backend only",
    "TorchModuleWrapper": "wraps a module of PyTorch; one backend only",
    "GRUCell": "takes and returns states beside its input; used in RNN",
    "LSTMCell": "takes and returns states beside its input; used in RNN",
    "SimpleRNNCell": "takes and returns states beside its input; used in RNN",
    "StackedRNNCells": "takes and returns states beside its input; used in RNN",
    "StringLookup": "takes strings, which only TensorFlow has",
    "TextVectorization": "takes strings, which only TensorFlow has",
    "IntegerLookup": "needs TensorFlow installed, whatever the backend",
    "Hashing": "needs TensorFlow installed, whatever the backend",
    "HashedCrossing": "needs TensorFlow installed, whatever the backend",
    "MaxNumBoundingBoxes": "takes a dictionary of bounding boxes",
    "Equalization": "its symbolic output is its input, which Keras 3.15.1 treats as a cycle",
}
"""Reason why a layer cannot be in a graph, by class name."""
