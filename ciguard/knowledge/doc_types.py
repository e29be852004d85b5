"""Types in prose: the parentheses in a docstring's parameter section, `(int or tuple)`."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from ciguard.domain import dtypes as element_types
from ciguard.knowledge.clues import Clue, ClueSource, Structure
from ciguard.knowledge.type_hints import read_hint
from ciguard.knowledge.type_texts import LIST_OF

if TYPE_CHECKING:
    from ciguard.domain.records import ApiRecord, ParameterRecord

_WORDS = (
    (r"(?:list|tuple|sequence|iterable)s?\s*(?:of|\[)\s*(?:\w+\s+)?`*(?:tensors?|variables?)`*",
     Structure.TENSORS),
    (r"(?:list|tuple|sequence)s?\s*(?:of|\[)\s*(?:\w+\s+)?`*(?:int|integer|python:int)s?`*",
     Structure.INTS),
    (r"(?:list|tuple|sequence)s?\s*(?:of|\[)\s*`*floats?`*", Structure.FLOATS),
    (r"(?:list|tuple|sequence)s?\s*(?:of|\[)\s*`*(?:string|str)s?`*", Structure.STRINGS),
    (r"(?:list|tuple)s?\s*(?:of|\[)\s*`*bools?`*", Structure.BOOLS),
    (r"(?:list|tuple)s?\s*(?:of|\[)\s*`*tf\.dtypes?`*", Structure.DTYPES),
    (r"(?:torch\.)?size|int\.\.\.", Structure.INTS),
    (r"(?:int(?:eger)?|bool(?:ean)?|numeric|real|string|(?:u?int|b?float|complex)\d*)`* `*tensors?",
     Structure.TENSOR),
    (r"(?:long|int|float|double|bool|byte|half)?tensors?|variable|array_like|ndarray",
     Structure.TENSOR),
    (r"ints?|integers?|python:int", Structure.INT),
    (r"floats?|double|python:float", Structure.FLOAT),
    (r"bools?|booleans?|python:bool", Structure.BOOL),
    (r"str|strings?", Structure.STRING),
    (r"numbers?|scalars?", Structure.NUMBER),
    (r"(?:tf\.|torch\.)?dtypes?", Structure.DTYPE),
    (r"(?:torch\.)?device", Structure.DEVICE),
    (r"callables?|functions?|generator", Structure.OPAQUE),
)  # fmt: skip
_PATTERNS = tuple((re.compile(rf"\b(?:{words})(?!\w)", re.IGNORECASE), s) for words, s in _WORDS)
_PART_END = re.compile(r"[.;:]\s|\n")
_RANK = re.compile(r"^\d-?D\s+")
_MAX_CACHED_TEXTS = 4096
_BARE_LIST = re.compile(r"\b(?:tuple|list|sequence)\b", re.IGNORECASE)
_ARTICLE = re.compile(
    r"^\s*(?:optional[.:]?\s*)?(?:an?|one or more|the)?\s*(?:optional\s+)?", re.IGNORECASE
)
_TENSOR_DTYPES = {
    "longtensor": ("int64",),
    "inttensor": ("int32",),
    "booltensor": ("bool",),
    "bytetensor": ("uint8",),
    "floattensor": ("float32",),
}
ALIASES = {"half": "float16", "float": "float32", "double": "float64", "int": "int32"}
"""Dtypes by their names in prose, for names that are not the dtype's usual name."""
KNOWN_DTYPES = frozenset(element_types.NUMERIC + element_types.BOOLEAN + ("string",))
"""Names of all dtypes that a clue can have."""


def read(record: ApiRecord, parameter: ParameterRecord) -> list[Clue]:
    """Return the clue in the documented type of a parameter."""
    del record
    text = parameter.doc_type
    if not text:
        return []
    structures = structures_in(text)
    if not structures:
        return read_hint(text, ClueSource.DOC_TYPE)
    dtypes = next((names for word, names in _TENSOR_DTYPES.items() if word in text.lower()), ())
    return [
        Clue(
            source=ClueSource.DOC_TYPE,
            evidence=text,
            structures=structures,
            dtypes=dtypes,
            nullable=True if "None" in text else None,
        )
    ]


@lru_cache(maxsize=_MAX_CACHED_TEXTS)
def structures_in(text: str) -> tuple[Structure, ...]:
    """Return the structures that a type in prose names, in the order of the text."""
    positions: list[tuple[int, Structure]] = []
    rest = text
    for pattern, structure in _PATTERNS:
        positions += [(match.start(), structure) for match in pattern.finditer(rest)]
        # Matched text is blanked, so that the ints of "list of ints" do not match again.
        rest = pattern.sub(lambda match: " " * len(match.group()), rest)
    structures = [structure for _, structure in sorted(positions)]
    if _BARE_LIST.search(rest):
        structures += [LIST_OF[s] for s in structures if s in LIST_OF][:1] or [Structure.INTS]
    return tuple(dict.fromkeys(structures))


def leading_type(text: str) -> tuple[Structure, ...]:
    """Return the structure that the first words of a description name; empty if they name none.

    For example, "A 4-D `Tensor` of …" starts with the name of a tensor.
    """
    first = _PART_END.split(text, maxsplit=1)[0]
    words = _ARTICLE.sub("", first, count=1).replace("`", "")
    words = _RANK.sub("", words)
    for pattern, structure in _PATTERNS:
        if pattern.match(words):
            return (structure,)
    return ()
