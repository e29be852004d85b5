"""What libraries state in their docstrings about results on devices.

Some results are not specified: which of two values remains if an index occurs twice, or which of
several equal elements an index names. Devices choose differently, and a GPU may choose differently
in each call.
"""

from __future__ import annotations

import re

OPEN_VALUES = "open-values"
"""Note of APIs whose documentation leaves elements of the result open for some arguments."""
OPEN_INDICES = "open-indices"
"""Note of APIs whose documentation leaves open which of several equal elements the indices in the
result name. The other parts of the result are specified."""
NONDETERMINISTIC = "nondeterministic"
"""Note of APIs that may return other elements in each call on a device."""
NO_KERNEL = "no-kernel"
"""Note of APIs whose operator has kernels for CPUs only, in a build for devices."""

_SENTENCE_END = re.compile(r"\.\s|\n\s*\n")
_UNCERTAIN = re.compile(
    r"non-?determinis|undefined|arbitrar|not guaranteed|any order|not necessarily|"
    r"becomes stable, preserving",
    re.IGNORECASE,
)
_CAUSE = re.compile(
    r"duplicate|(?:indices|arrays) (?:are|is) not unique|repeat(?:ed)? (?:values|indices)"
    r"|compare equal|\bties?\b|\btied\b|which copy|more than once|multiple (?:valid|updates)"
    r"|first occurrence|equivalent elements",
    re.IGNORECASE,
)
"""Reasons why documentation leaves results open, for arguments that occur by chance."""
_ON_REQUEST = re.compile(r"set to \W*True|assume_unique")
"""Sentence about an argument that promises something; it is not true by default."""
_INDICES_OF_RESULT = re.compile(
    r"indices\W{1,3}(?:of tied|does not|for any)|becomes stable, preserving"
)
_NONDETERMINISTIC = re.compile(r"non-?determinis", re.IGNORECASE)


def notes_in(doc: str) -> list[str]:
    """Return the notes that the sentences of a docstring state, sorted."""
    notes: set[str] = set()
    for sentence in _SENTENCE_END.split(doc):
        if not _UNCERTAIN.search(sentence) or not _CAUSE.search(sentence):
            continue
        if _INDICES_OF_RESULT.search(sentence):
            notes.add(OPEN_INDICES)
        elif not _ON_REQUEST.search(sentence):
            notes.add(OPEN_VALUES)
            notes.update([NONDETERMINISTIC] if _NONDETERMINISTIC.search(sentence) else [])
    return sorted(notes)
