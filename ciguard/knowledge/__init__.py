"""What is known of a library's API: one constraint per parameter, and who said so.

`understand` turns the record that the worker brought back into an `Api`. Pure: no I/O, no library.
Each source is one reader module; `merge` ranks what they say, `compose` writes constraints.
"""

from ciguard.knowledge.api import Api, Evidence, Parameter
from ciguard.knowledge.clues import Clue, Reader, Source, Structure
from ciguard.knowledge.understand import READERS, understand

__all__ = [
    "READERS",
    "Api",
    "Clue",
    "Evidence",
    "Parameter",
    "Reader",
    "Source",
    "Structure",
    "understand",
]
