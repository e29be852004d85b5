"""Shared code of adapters, which run in a target's interpreter.

The code runs on Python 3.9 and later. It uses only the standard library, numpy and the library
under test, and imports only modules of `in_target` folders from ciguard.
"""
