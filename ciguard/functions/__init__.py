"""Annotated functions: reading their annotations, drawing valid calls, running the calls.

`in_target` runs in the process of the user's module; definitions that both sides share live there.
The other packages import each other in this order only:

- `specs`: annotations as data.
- `solving`: the values that the preconditions leave for a single argument.
- `drawing`: draws whole calls.
- `checking`: finds errors in annotations before anything runs.
- `hosting`: runs calls in a separate process.
- `writing`: writes calls and tests as source text.
- `searching`: searches for calls that fail.

Levels, reports and the pytest plugin live elsewhere.
"""
