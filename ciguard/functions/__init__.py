"""Annotated functions: reading their annotations, drawing valid calls, running the calls.

`in_target` runs in the process that imports the user's module, and contains the definitions that
ciguard's process and that process share. A package of this list imports only packages above it:

- `specs`: annotations as data.
- `solving`: the values of a single argument that the preconditions allow.
- `drawing`: draws whole calls.
- `checking`: finds errors in annotations before anything runs.
- `hosting`: runs calls in a separate process.
- `writing`: writes calls and tests as source text.
- `searching`: searches for calls that fail.
"""
