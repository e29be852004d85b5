"""Laws: what a library's own words and operator definitions forbid an argument to be.

`laws_of` reads them from an API's record, strictly: constraints for generation may be guessed, an
accusation may not. Pure: no I/O, no library.
"""

from ciguard.oracles.laws.breaking import broken_laws, evidence_of, where_written
from ciguard.oracles.laws.demands import (
    Choice,
    Demand,
    ElementTypes,
    NumberInterval,
    Ranks,
    aspect_of,
    breach,
)
from ciguard.oracles.laws.mending import mended
from ciguard.oracles.laws.reading import Law, laws_of
from ciguard.oracles.laws.sentences import demands_in, sentences

__all__ = [
    "Choice",
    "Demand",
    "ElementTypes",
    "Law",
    "NumberInterval",
    "Ranks",
    "aspect_of",
    "breach",
    "broken_laws",
    "demands_in",
    "evidence_of",
    "laws_of",
    "mended",
    "sentences",
    "where_written",
]
