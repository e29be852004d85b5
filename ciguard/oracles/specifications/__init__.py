"""Specifications: what a library's documentation and operator definitions require of an argument.

`specifications_of` reads them from API records, and accepts only statements with a single reading:
generation may guess constraints, but findings must not. The package uses no I/O and no library.
"""

from ciguard.oracles.specifications.conventions import conventions_for
from ciguard.oracles.specifications.reading import (
    Specification,
    specifications_of,
    with_conventions,
)
from ciguard.oracles.specifications.repair import repaired_calls
from ciguard.oracles.specifications.requirements import (
    Requirement,
    aspect_of,
    choice,
    interval,
    ranks,
    requirement_in_words,
    violation_in_words,
)
from ciguard.oracles.specifications.sentences import requirements_in, sentences
from ciguard.oracles.specifications.violations import (
    evidence_of,
    source_in_words,
    violated_specifications,
)

__all__ = [
    "Requirement",
    "Specification",
    "aspect_of",
    "choice",
    "conventions_for",
    "evidence_of",
    "interval",
    "ranks",
    "repaired_calls",
    "requirement_in_words",
    "requirements_in",
    "sentences",
    "source_in_words",
    "specifications_of",
    "violated_specifications",
    "violation_in_words",
    "with_conventions",
]
