"""The libraries that ciguard can test: one folder holds what is known of one.

`LIBRARIES` has their descriptions. The folders `in_target` run inside a target's interpreter and
are imported from there only: `in_target` here is what all adapters share.
"""

from ciguard.libraries.catalogue_version import description_version
from ciguard.libraries.forms import TensorForm, through
from ciguard.libraries.library import Companion, CudaExtra, ForkPolicy, Library, Mode
from ciguard.libraries.operations import Operations, Vectorising, Widening
from ciguard.libraries.programs import InputExpressions, ProgramStyle, Way
from ciguard.libraries.registry import LIBRARIES, library_of_api, library_of_distribution
from ciguard.libraries.scripts import Writer

__all__ = [
    "LIBRARIES",
    "Companion",
    "CudaExtra",
    "ForkPolicy",
    "InputExpressions",
    "Library",
    "Mode",
    "Operations",
    "ProgramStyle",
    "TensorForm",
    "Vectorising",
    "Way",
    "Widening",
    "Writer",
    "description_version",
    "library_of_api",
    "library_of_distribution",
    "through",
]
