"""Support for TensorFlow, including its Keras."""
