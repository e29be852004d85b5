"""Runs inside a target's interpreter, where the adapter is loaded."""
