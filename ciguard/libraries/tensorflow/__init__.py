"""TensorFlow, with the Keras that it brings."""
