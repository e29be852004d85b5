"""What runs in the target, beside the user's module: the standard library and numpy only.

`child` is a process of its own for the functions of programs, `worker` serves a campaign's worker.
Both import a program (`loading`), say what its annotations are (`describing/`) and make calls of
its functions (`calling/`). Python 3.9 and later.
"""
