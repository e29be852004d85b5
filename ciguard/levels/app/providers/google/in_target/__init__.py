"""Modules that run inside the application's interpreter, in place of Google's channels."""
