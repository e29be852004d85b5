"""Support for JAX."""
