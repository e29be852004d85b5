"""`ciguard function suggest`: annotations for a program that has none, with the reasons for each.

The guidelines of aNNoTest (Table 1), automated: calls of a function in its project, its own checks,
the libraries and functions that it calls. Nothing is imported or run; a person reviews the outcome.
"""

from ciguard.suggesting.project import MAX_BYTES, ProjectModule, module_of, others_of
from ciguard.suggesting.proposals import FunctionProposals, Proposal, Unknown
from ciguard.suggesting.suggest import suggestions
from ciguard.suggesting.writing import as_diff, as_sidecar, explained

__all__ = [
    "MAX_BYTES",
    "FunctionProposals",
    "ProjectModule",
    "Proposal",
    "Unknown",
    "as_diff",
    "as_sidecar",
    "explained",
    "module_of",
    "others_of",
    "suggestions",
]
