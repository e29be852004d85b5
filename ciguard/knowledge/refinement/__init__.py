"""Refinement: what the library's own answers teach of its API, beyond what its documentation says.

`Experience` reduces the outcomes of an API's calls, `refined` draws on it, `refinements` says what
was learned and why. Pure, no table per API; `files` turns experience into text and back.
"""

from ciguard.knowledge.refinement.experience import Experience, experience_from_json
from ciguard.knowledge.refinement.files import experience_lines, read_experience
from ciguard.knowledge.refinement.refine import Refinement, refined, refinements

__all__ = [
    "Experience",
    "Refinement",
    "experience_from_json",
    "experience_lines",
    "read_experience",
    "refined",
    "refinements",
]
