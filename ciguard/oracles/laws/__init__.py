"""Laws: what a library's own words and operator definitions forbid an argument to be.

`laws_of` reads them from an API's record, strictly: constraints for generation may be guessed, an
accusation may not. Pure: no I/O, no library.
"""

from ciguard.oracles.laws.breaking import broken_laws, evidence_of, where_written
from ciguard.oracles.laws.demands import (
    Demand,
    aspect_of,
    breach,
    choice,
    demand_in_words,
    interval,
    ranks,
)
from ciguard.oracles.laws.mending import mended
from ciguard.oracles.laws.reading import Law, laws_of
from ciguard.oracles.laws.sentences import demands_in, sentences

__all__ = [
    "Demand",
    "Law",
    "aspect_of",
    "breach",
    "broken_laws",
    "choice",
    "demand_in_words",
    "demands_in",
    "evidence_of",
    "interval",
    "laws_of",
    "mended",
    "ranks",
    "sentences",
    "where_written",
]
