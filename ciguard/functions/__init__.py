"""Annotated functions: what their annotations say, which calls of them are valid, what calls do.

`in_target` runs beside the user's module; what both sides must name alike, the others import from
it. These import one from the other in this order: `specs` are annotations as data, `solving` says
what they leave for one argument, `drawing` draws whole calls, `checking` tells what is wrong before
anything runs, `hosting` runs calls in a process of their own, `writing` writes calls and tests as
source text, `searching` looks for calls that fail. Here live no levels, no reports and no pytest.
"""
