"""Writes the annotations, hints and marks on the functions of an imported module as JSON.

`notes`, `places` and `nesting` find the functions; `sidecar` adds annotations from a file beside
the program. `module` and `function` write the description, and `encoding`, `hints` and `conditions`
its parts. Runs in a target's interpreter.
"""
