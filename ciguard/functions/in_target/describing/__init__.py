"""From the annotations, hints and marks on the functions of an imported module to JSON.

`notes`, `places` and `nesting` find the functions, `sidecar` annotates from beside the program,
`module` and `function` write the description, `encoding`, `hints` and `conditions` what is in it.
Runs in a target's interpreter.
"""
