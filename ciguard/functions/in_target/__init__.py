"""Code that runs in the target, in the process that imports the user's module.

It needs the standard library, numpy and Python 3.9 or later. `child` is the process of the pytest
plugin and of `ciguard function`; a campaign's worker uses `worker` instead. They import a program
(`loading`), describe its annotations (`describing/`) and call its functions (`calling/`).
"""
