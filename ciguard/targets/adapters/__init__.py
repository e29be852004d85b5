"""One adapter per library, each with its catalogue; they run inside a target's interpreter.

Standard library, numpy and the library under test only, Python 3.9 and later; of ciguard, they
import modules of this package and nothing else.
"""
