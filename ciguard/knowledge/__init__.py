"""Constraints on the parameters of a library's APIs, with the evidence for each.

`understand` turns an API's record, which a worker returned, into an `Api`. It is pure: it does no
I/O and imports no library. Each source of constraints has a reader module, which returns clues.
`merge` ranks the clues of all sources, and `compose` makes constraints of them.
"""

from ciguard.knowledge.api import Api, ConstraintEvidence, Parameter
from ciguard.knowledge.clues import Clue, ClueSource, Reader, Structure
from ciguard.knowledge.constraints_file import (
    CONSTRAINTS_SCHEMA,
    KnownApis,
    Provenance,
    constraint_lines,
    known_apis,
    read_constraints,
    read_provenance,
)
from ciguard.knowledge.contradictions import contradictions
from ciguard.knowledge.mining import Thresholds, extract_from_file, learn_from_files
from ciguard.knowledge.refinement.experience import Experience, experience_from_json
from ciguard.knowledge.refinement.files import experience_lines, read_experience
from ciguard.knowledge.refinement.refine import Refinement, refined, refinements
from ciguard.knowledge.shape_texts import without_markup
from ciguard.knowledge.understand import READERS, understand
from ciguard.knowledge.version import knowledge_version

__all__ = [
    "CONSTRAINTS_SCHEMA",
    "READERS",
    "Api",
    "Clue",
    "ClueSource",
    "ConstraintEvidence",
    "Experience",
    "KnownApis",
    "Parameter",
    "Provenance",
    "Reader",
    "Refinement",
    "Structure",
    "Thresholds",
    "constraint_lines",
    "contradictions",
    "experience_from_json",
    "experience_lines",
    "extract_from_file",
    "knowledge_version",
    "known_apis",
    "learn_from_files",
    "read_constraints",
    "read_experience",
    "read_provenance",
    "refined",
    "refinements",
    "understand",
    "without_markup",
]
