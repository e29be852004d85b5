"""What adapters share; they run inside a target's interpreter.

Standard library, numpy and the library under test only, Python 3.9 and later; of ciguard, they
import modules of such folders and nothing else.
"""
