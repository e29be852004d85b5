"""Where the lines of a baseline are: in one file, or in parts by the first digits of fingerprints.

buckets.jsonl    a header, then one line per bucket, sorted; of a large baseline only the header
corpus.jsonl     the cases, one line per bucket
buckets/3f.jsonl, corpus/3f.jsonl    the parts of a large one: the buckets v1:3f…

How many digits name a part follows from the records alone, so any two writers agree.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from ciguard.baseline.encoding import SCHEMA
from ciguard.files import parse_json

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BUCKETS = "buckets"
CORPUS = "corpus"
INDEX = f"{BUCKETS}.jsonl"
MAX_DIGITS = 3
MAX_IN_PART = 2_000
"""Buckets, on average: fingerprints are spread evenly."""
MAX_PART_BYTES = 32 << 20
"""GitHub warns of files of 50 MB and refuses 100 MB."""

_PART = re.compile(rf"[0-9a-f]{{1,{MAX_DIGITS}}}\.jsonl", re.ASCII)
_OF_SCHEMA_1 = re.compile(r"v\d{1,4}-[0-9a-f]{16}\.json", re.ASCII)
_HALF_WRITTEN = ".new-"


class NewerSchemaError(ValueError):
    """A newer ciguard wrote the baseline."""


@dataclass(frozen=True, slots=True)
class BaselineLayout:
    """How the files of one baseline are laid out."""

    schema: int = SCHEMA
    digits: int = 0
    """Of a fingerprint, in the name of the part where its lines are."""

    def part_of(self, fingerprint: str) -> str:
        """Return the part where a bucket's lines are."""
        return fingerprint.rpartition(":")[2][: self.digits]

    def parts(self) -> Iterator[str]:
        """Yield every part in order; each has its files, though they may hold nothing."""
        return map("".join, product("0123456789abcdef", repeat=self.digits))


def file_of(kind: str, part: str) -> str:
    """Return the file, relative to the baseline's folder, of a part of the buckets or cases."""
    return f"{kind}/{part}.jsonl" if part else f"{kind}.jsonl"


def fewest_digits(count: int) -> int:
    """Return how many digits name a part in a baseline of so many buckets, if none is too large."""
    digits = 0
    while digits < MAX_DIGITS and count > MAX_IN_PART * 16**digits:
        digits += 1
    return digits


def header(layout: BaselineLayout) -> str:
    """Return the first line of the index."""
    fields = {"schema": layout.schema, "records": "ciguard baseline", "digits": layout.digits}
    return json.dumps(fields)


def layout_of(line: str) -> BaselineLayout:
    """Return the layout that a first line names.

    Raises:
        NewerSchemaError: if only a newer ciguard can read it.
        ValueError: if the line is not the header of a baseline.
    """
    try:
        fields = parse_json(line)
        schema = fields["schema"]
    except (ValueError, TypeError, KeyError):
        msg = "this is not the header of a baseline"
        raise ValueError(msg) from None
    if type(schema) is not int or schema < 1:
        msg = f"schema {schema!r:.40} is not a number"
        raise ValueError(msg)
    if schema > SCHEMA:
        msg = f"written by a newer ciguard (schema {schema}; this one reads {SCHEMA})"
        raise NewerSchemaError(msg)
    digits = fields.get("digits") if schema == SCHEMA else 0
    if type(digits) is not int or not 0 <= digits <= MAX_DIGITS:
        msg = f"digits {digits!r:.40} is not a number from 0 to {MAX_DIGITS}"
        raise ValueError(msg)
    return BaselineLayout(schema, digits)


def parts_in(folder: Path, kind: str) -> list[Path]:
    """Return the files in the folder of one kind of parts, none where there is no such folder."""
    try:
        return list((folder / kind).glob("*.json*"))
    except FileNotFoundError:  # another process has just removed the folder
        return []


def stranger(folder: Path) -> str:
    """Return a file among the parts that only pretends to be one; empty if there is none."""
    for kind in (BUCKETS, CORPUS):
        if (folder / kind).is_symlink():
            return kind
        for path in sorted(parts_in(folder, kind)):
            if not _PART.fullmatch(path.name) and not _OF_SCHEMA_1.fullmatch(path.name):
                return f"{kind}/{path.name}"
    return ""


def leftovers(folder: Path, layout: BaselineLayout) -> list[Path]:
    """Return what a writer that was killed has left: parts of another layout, halves of files.

    They are not read; whoever writes the baseline next removes them.
    """
    expected = {file_of(kind, part) for kind in (BUCKETS, CORPUS) for part in layout.parts()}
    found = [folder / file_of(CORPUS, "")] if layout.digits else []
    found += folder.glob(f"{_HALF_WRITTEN}*")
    for kind in (BUCKETS, CORPUS):
        found += parts_in(folder, kind)
        found += (folder / kind).glob(f"{_HALF_WRITTEN}*")
    return sorted(
        path
        for path in found
        if path.relative_to(folder).as_posix() not in expected and path.is_file()
    )
