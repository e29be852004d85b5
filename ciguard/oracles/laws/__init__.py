"""Specifications: what a library's documentation and operator definitions require of an argument.

`laws_of` reads them from an API's record, strictly: generation may guess constraints, but a finding
may not. Pure: no I/O, no library.
"""

from ciguard.oracles.laws.reading import Law, laws_of
from ciguard.oracles.laws.repair import mended
from ciguard.oracles.laws.requirements import (
    Requirement,
    aspect_of,
    breach,
    choice,
    interval,
    ranks,
    requirement_in_words,
)
from ciguard.oracles.laws.sentences import requirements_in, sentences
from ciguard.oracles.laws.violations import broken_laws, evidence_of, where_written

__all__ = [
    "Law",
    "Requirement",
    "aspect_of",
    "breach",
    "broken_laws",
    "choice",
    "evidence_of",
    "interval",
    "laws_of",
    "mended",
    "ranks",
    "requirement_in_words",
    "requirements_in",
    "sentences",
    "where_written",
]
