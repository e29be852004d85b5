"""Modules that run in a target's interpreter, where the adapter is loaded."""
