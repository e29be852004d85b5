"""Runs inside the application's interpreter, beside the clients of Google."""
