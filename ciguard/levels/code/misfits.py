"""Refusals that are a derived program's own fault, not the library's.

A block may be legal and run alone, and what is behind it still cannot take what comes out: another
shape or type, a tuple, no gradient. Such a program should have been adapted. Nor do limits of this
machine say anything. Where in doubt a message is taken for such: a false alarm costs more.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ciguard.domain.programs import located
from ciguard.levels.code.program_runs import is_lacking

if TYPE_CHECKING:
    from ciguard.domain.outcomes import Rejected

_OF_SHAPE = (
    r"\b(?:shapes?|sizes?|dim(?:s|ensions?|ensional|ensionality)?|ndim|min_ndim|max_ndim|rank|axis"
    r"|axes|channels?|broadcast\w*|batch(?:_size)?|logits|features|elements)\b"
    r"|\b\d-?[dD]\b|incompatible with the layer|out of (?:bounds|range)|between 0 and 1"
)
_OF_TYPE = (
    r"\bdtypes?\b|(?:scalar|data|input|bias|tensor) ?types?\b|DataType|same type"
    r"|not implemented for|\b(?:float|double|half|int|long|bool)(?:32|64|16)? tensor\b"
    r"|\b(?:tuple|list|dict|NoneType|sequence)\b"
)
_OF_GRADIENT = (
    r"requires? grad|\bgrad_fn\b|derivative|differentia|inplace operation|in-place|GradientTape"
    r"|[Nn]o gradients?|gradients? (?:is|are|was|were)? ?(?:not|None)|has no gradient"
    r"|backward through the graph"
)
_OF_MACHINE = (
    r"[Tt]oo many open files|[Rr]esource temporarily|not permitted|[Pp]ermission denied|No space"
    r"|start new thread|timed out|[Dd]ownload|No such file|worker .*(?:exited|killed)|EOF when"
)
_OF_TRAINING = r"\bnan\b|\binf(?:inite)?\b|not finite|diverge"
_MISFIT = re.compile(f"{_OF_SHAPE}|{_OF_TYPE}|{_OF_GRADIENT}|{_OF_MACHINE}|(?i:{_OF_TRAINING})")
_MACHINES = frozenset(
    {
        "BlockingIOError",
        "ConnectionError",
        "EOFError",
        "FileExistsError",
        "FileNotFoundError",
        "OSError",
        "PermissionError",
        "TimeoutError",
        "URLError",
    }
)


def is_misfit(refusal: Rejected) -> bool:
    """Return whether a refusal says that the program does not fit together, or the machine it."""
    if is_lacking(refusal) or refusal.exception in _MACHINES:
        return True
    return bool(_MISFIT.search(located(refusal.message).message))
