"""Support for Keras 3 on each of its backends."""
