"""Recognition of rejections that are the fault of the derived program, not of the library.

A block may be legal and run alone, although the next layer cannot take its result: the result may
have another shape or type, be a tuple, or have no gradient. Such a program should have got an
adapter. Limits of the machine are not defects either. Doubtful messages count as the program's
fault, since a false positive costs more than a missed defect.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ciguard.domain.programs import locate_message
from ciguard.levels.code.program_runs import lacks_api

if TYPE_CHECKING:
    from ciguard.domain.outcomes import Rejected

_SHAPE_WORDS = (
    r"\b(?:shapes?|sizes?|dim(?:s|ensions?|ensional|ensionality)?|ndim|min_ndim|max_ndim|rank|axis"
    r"|axes|channels?|broadcast\w*|batch(?:_size)?|logits|features|elements)\b"
    r"|\b\d-?[dD]\b|incompatible with the layer|out of (?:bounds|range)|between 0 and 1"
)
_TYPE_WORDS = (
    r"\bdtypes?\b|(?:scalar|data|input|bias|tensor) ?types?\b|DataType|same type"
    r"|not implemented for|\b(?:float|double|half|int|long|bool)(?:32|64|16)? tensor\b"
    r"|\b(?:tuple|list|dict|NoneType|sequence)\b"
)
_GRADIENT_WORDS = (
    r"requires? grad|\bgrad_fn\b|derivative|differentia|inplace operation|in-place|GradientTape"
    r"|[Nn]o gradients?|gradients? (?:is|are|was|were)? ?(?:not|None)|has no gradient"
    r"|backward through the graph"
)
_MACHINE_WORDS = (
    r"[Tt]oo many open files|[Rr]esource temporarily|not permitted|[Pp]ermission denied|No space"
    r"|start new thread|timed out|[Dd]ownload|No such file|worker .*(?:exited|killed)|EOF when"
)
_TRAINING_WORDS = r"\bnan\b|\binf(?:inite)?\b|not finite|diverge"
_INCOMPATIBILITY = re.compile(
    f"{_SHAPE_WORDS}|{_TYPE_WORDS}|{_GRADIENT_WORDS}|{_MACHINE_WORDS}|(?i:{_TRAINING_WORDS})"
)
_MACHINE_EXCEPTIONS = frozenset(
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


def is_incompatibility(refusal: Rejected) -> bool:
    """Return whether incompatible parts of a program or limits of the machine cause a rejection."""
    if lacks_api(refusal) or refusal.exception in _MACHINE_EXCEPTIONS:
        return True
    return bool(_INCOMPATIBILITY.search(locate_message(refusal.message).message))
