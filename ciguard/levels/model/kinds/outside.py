"""Public layers that cannot stand in a functional graph of float tensors, and why."""

OUTSIDE = {
    "Layer": "the base of all layers; computes nothing",
    "Wrapper": "the base of layers that hold another; computes nothing",
    "InputLayer": "an input of the graph, which no layer goes into",
    "Lambda": "its argument is a Python function, which is no data",
    "FlaxLayer": "wraps a module of Flax; one backend only",
    "JaxLayer": "wraps functions of JAX; one backend only",
    "TFSMLayer": "wraps a saved TensorFlow model; one backend only",
    "TorchModuleWrapper": "wraps a module of PyTorch; one backend only",
    "GRUCell": "takes and gives states beside its input; stands in RNN",
    "LSTMCell": "takes and gives states beside its input; stands in RNN",
    "SimpleRNNCell": "takes and gives states beside its input; stands in RNN",
    "StackedRNNCells": "takes and gives states beside its input; stands in RNN",
    "StringLookup": "takes strings, which only TensorFlow has",
    "TextVectorization": "takes strings, which only TensorFlow has",
    "IntegerLookup": "needs TensorFlow installed, whatever the backend",
    "Hashing": "needs TensorFlow installed, whatever the backend",
    "HashedCrossing": "needs TensorFlow installed, whatever the backend",
    "MaxNumBoundingBoxes": "takes a dictionary of bounding boxes",
    "Equalization": "its symbolic output is its input, so that Keras sees a cycle (3.15.1)",
}
