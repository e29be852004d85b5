"""Packing of the number of batches of each API, for the journal, the baseline and parts."""

from __future__ import annotations

import base64
import json
import zlib
from itertools import zip_longest
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_MAX_BYTES = 1_000_000
"""Maximum size of the unpacked JSON text; 100,000 APIs need less."""


def pack_visits(counts: Sequence[int]) -> str:
    """Return the counts as short text."""
    plain = json.dumps(list(counts), separators=(",", ":")).encode("ascii")
    return base64.b85encode(zlib.compress(plain, 9)).decode("ascii")


def unpack_visits(text: str) -> list[int]:
    """Return the counts that `pack_visits` packed.

    Raises:
        ValueError: if the text is malformed.
    """
    inflater = zlib.decompressobj()
    try:
        plain = inflater.decompress(base64.b85decode(text), _MAX_BYTES)
        counts: object = json.loads(plain)
    except (zlib.error, ValueError, RecursionError) as error:
        msg = f"the stored visits cannot be decoded: {error}"
        raise ValueError(msg) from error
    if not inflater.eof or not isinstance(counts, list) or not all(map(_is_count, counts)):
        msg = f"the stored visits are not a list of counts: {plain[:40]!r}"
        raise ValueError(msg)
    return counts


def _is_count(number: object) -> bool:
    return type(number) is int and number >= 0


def merged_visits(texts: Iterable[str]) -> str:
    """Return the visits of all shards, each of which visits APIs of its own.

    Raises:
        ValueError: if a text is malformed.
    """
    rows = [unpack_visits(text) for text in texts]
    return pack_visits([max(column) for column in zip_longest(*rows, fillvalue=0)])
