"""Suggested annotations (`ciguard function suggest`), with the reasons for each annotation.

The reasons follow the guidelines in Table 1 of the aNNoTest paper: the calls of a function in its
project, the function's own checks, and the functions that it calls. The program is never imported
or run, and the user reviews the suggestions.
"""

from ciguard.suggesting.project import MAX_BYTES, ProjectModule, module_of, other_modules_of
from ciguard.suggesting.proposals import FunctionProposals, Proposal, UnknownArgument
from ciguard.suggesting.suggest import suggestions
from ciguard.suggesting.writing import as_diff, as_sidecar, explanation_lines

__all__ = [
    "MAX_BYTES",
    "FunctionProposals",
    "ProjectModule",
    "Proposal",
    "UnknownArgument",
    "as_diff",
    "as_sidecar",
    "explanation_lines",
    "module_of",
    "other_modules_of",
    "suggestions",
]
