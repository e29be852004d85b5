"""Describes the annotated functions of an imported module as JSON.

`notes`, `locations` and `nesting` find the functions; `sidecar` adds annotations from another file.
`module` and `function` write the description, with the help of `encoding`, `hints`, `jaxtyped`,
`conditions` and `attributes`. `marking` writes marks of pytest. Runs in a target's interpreter.
"""
