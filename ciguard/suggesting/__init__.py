"""`ciguard function suggest`: proposes annotations for a program, with the reasons for each.

It automates the guidelines of aNNoTest (Table 1): calls of a function in its project, its own
checks, and the functions that it calls. Nothing is imported or run; the user reviews the proposals.
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
