"""Modules that run in the interpreter of the user's application.

They make its conditions report their outcomes, and its clients request stub responses from ciguard.
They use the standard library only (Python 3.9 and later); the clients are the application's.
"""
