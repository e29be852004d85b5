"""The part of the engine that runs inside a target's interpreter.

Python 3.9 and later, standard library, numpy and the library under test only. `bootstrap` is the
entry; `server` forks workers; `loop` runs the cases of one worker.
"""
