"""Clues from types that name a class, such as `Distribution`: no call can contain an instance."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ciguard.knowledge.clues import Clue, ClueSource, Structure

if TYPE_CHECKING:
    from ciguard.domain.records import ApiRecord, ParameterRecord

_CLASS = re.compile(
    r"(?:an? )?(?::class:)?(?:`~?)?(?:[a-z_]\w*\.)*_?(?P<name>[A-Z]\w*[a-z]\w*)`?"
    r"(?: (?:object|instance))?(?:,? ?\(?optional\)?| ?\| ?None)?"
)
"""A type that is one class: `Distribution`, `torch.nn.Module | None`, `Module, optional`."""
_DESCRIBED = re.compile(
    r"An? `*(?:[a-z]\w*\.)*(?P<name>[A-Z]\w*[a-z]\w*[A-Z]\w*|(?<=\.)[A-Z][a-z]+)`*"
    r"(?: (?:object|instance|to|that|of)\b|\.|\s*$)"
)
"""Start of a description that names a class: "A `TensorShape`", "An `IndexedSlices` instance"."""
_GENERAL = re.compile(
    r"Any|Hashable|Object|\w*(?:Tensor|Variable|Array|Like|DType|Number|Int|Float|Bool|Str|String"
    r"|List|Tuple|Sequence|Iterable|Dict|Parameter|None|True|False)s?"
)
"""Names of types that values of calls may have, or that are no classes."""


def read(record: ApiRecord, parameter: ParameterRecord) -> list[Clue]:
    """Return the clue that the documented or annotated type is a class; empty if it is not.

    Only defaults and names of parameters are weaker: what a description states in other words wins.
    """
    del record
    texts = ((_CLASS.fullmatch, parameter.annotation), (_CLASS.fullmatch, parameter.doc_type))
    matches = [find(text.strip()) for find, text in (*texts, (_DESCRIBED.match, parameter.doc))]
    return [
        Clue(source=ClueSource.CLASS, evidence=match["name"], structures=(Structure.OPAQUE,))
        for match in matches
        if match and not _GENERAL.fullmatch(match["name"])
    ][:1]
