"""Support for PyTorch."""
