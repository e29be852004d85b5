"""The libraries that ciguard can test, with one folder per library.

`LIBRARIES` has their descriptions. Code in folders named `in_target` runs in a target's interpreter
and is imported there only. All adapters share the `in_target` of this package.
"""

from ciguard.libraries.catalogue_version import description_version
from ciguard.libraries.forms import TensorForm, call_maker
from ciguard.libraries.in_target.device_errors import cause_of_loss
from ciguard.libraries.in_target.device_notes import (
    NO_KERNEL,
    NONDETERMINISTIC,
    OPEN_INDICES,
    OPEN_VALUES,
)
from ciguard.libraries.in_target.docstrings import parameters as documented_parameters
from ciguard.libraries.library import Companion, CudaExtra, ForkPolicy, Library, Mode
from ciguard.libraries.operations import Operations, Subscripts, Vectorising, Widening
from ciguard.libraries.programs import InputExpressions, ProgramStyle, Way
from ciguard.libraries.registry import LIBRARIES, library_of_api, library_of_distribution
from ciguard.libraries.scripts import Writer

__all__ = [
    "LIBRARIES",
    "NONDETERMINISTIC",
    "NO_KERNEL",
    "OPEN_INDICES",
    "OPEN_VALUES",
    "Companion",
    "CudaExtra",
    "ForkPolicy",
    "InputExpressions",
    "Library",
    "Mode",
    "Operations",
    "ProgramStyle",
    "Subscripts",
    "TensorForm",
    "Vectorising",
    "Way",
    "Widening",
    "Writer",
    "call_maker",
    "cause_of_loss",
    "description_version",
    "documented_parameters",
    "library_of_api",
    "library_of_distribution",
]
