"""Programs in a process of their own, and what is said of their calls.

`host` starts the process and outlives it, `collecting` asks it for the functions of a program,
`executing` for a call; `verdicts` are the answers. What coverage.py measures there is taken back by
`measured`.
"""
