"""Shared code of adapters, which run in a target's interpreter.

Python 3.9 and later, standard library, numpy and the library under test only. From ciguard, code
here imports only modules of `in_target` folders.
"""
