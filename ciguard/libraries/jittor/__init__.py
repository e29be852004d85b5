"""Support for Jittor."""
