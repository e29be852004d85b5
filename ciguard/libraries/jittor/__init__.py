"""Jittor."""
