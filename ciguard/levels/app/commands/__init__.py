"""Commands of level `app`, one module each: arguments in, exit code out, no logic.

A command imports what it needs when it runs, so that `--help` is fast.
"""
