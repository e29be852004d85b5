"""Code that runs in the target, in the process of the user's module.

It needs the standard library, numpy and Python 3.9 or later. `child` is a separate process for the
functions of programs; `worker` serves a campaign's worker. Both import a program (`loading`),
describe its annotations (`describing/`) and call its functions (`calling/`).
"""
