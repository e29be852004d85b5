"""Layout of a baseline's files: single files, or parts by the first digits of fingerprints.

buckets.jsonl    a header, then one line per bucket, sorted; for a large baseline only the header
corpus.jsonl     the cases, one line per bucket; missing in a large baseline
buckets/3f.jsonl, corpus/3f.jsonl    the parts of a large baseline, here with the buckets v1:3f…

The number of digits depends only on the records, so that all writers choose the same layout.
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
MAX_BUCKETS_PER_PART = 2_000
"""Maximum number of buckets in a part, on average over the parts."""
MAX_PART_BYTES = 32 << 20
"""Maximum size of a part; GitHub warns at 50 MB and rejects 100 MB."""

_PART = re.compile(rf"[0-9a-f]{{1,{MAX_DIGITS}}}\.jsonl", re.ASCII)
_SCHEMA_1_CASE = re.compile(r"v\d{1,4}-[0-9a-f]{16}\.json", re.ASCII)
_TEMPORARY_PREFIX = ".new-"


class NewerSchemaError(ValueError):
    """A newer version of ciguard wrote the baseline."""


@dataclass(frozen=True, slots=True)
class BaselineLayout:
    """Layout of one baseline's files."""

    schema: int = SCHEMA
    digits: int = 0
    """Number of a fingerprint's first digits in the name of a part; 0 for single files."""

    def part_of(self, fingerprint: str) -> str:
        """Return the name of the part that contains a bucket; empty for single files."""
        return fingerprint.rpartition(":")[2][: self.digits]

    def parts(self) -> Iterator[str]:
        """Yield the names of all parts in order, including parts without buckets."""
        return map("".join, product("0123456789abcdef", repeat=self.digits))


def file_of(kind: str, part: str) -> str:
    """Return the path of a part of the buckets or cases, relative to the baseline's folder."""
    return f"{kind}/{part}.jsonl" if part else f"{kind}.jsonl"


def min_digits(count: int) -> int:
    """Return the number of digits with which parts have at most 2,000 buckets on average.

    Args:
        count: the number of buckets.
    """
    digits = 0
    while digits < MAX_DIGITS and count > MAX_BUCKETS_PER_PART * 16**digits:
        digits += 1
    return digits


def header(layout: BaselineLayout) -> str:
    """Return the first line of the index."""
    fields = {"schema": layout.schema, "records": "ciguard baseline", "digits": layout.digits}
    return json.dumps(fields)


def layout_of(line: str) -> BaselineLayout:
    """Return the layout in the first line of the index.

    Raises:
        NewerSchemaError: if a newer ciguard wrote the baseline.
        ValueError: if the line is not the header of a baseline.
    """
    try:
        fields = parse_json(line)
        schema = fields["schema"]
    except (ValueError, TypeError, KeyError):
        msg = "the line is not the header of a baseline"
        raise ValueError(msg) from None
    if type(schema) is not int or schema < 1:
        msg = f"schema {schema!r:.40} is not a positive integer"
        raise ValueError(msg)
    if schema > SCHEMA:
        msg = (
            f"a newer version of ciguard wrote the baseline (schema {schema}; this version "
            f"reads schema {SCHEMA})"
        )
        raise NewerSchemaError(msg)
    digits = fields.get("digits") if schema == SCHEMA else 0
    if type(digits) is not int or not 0 <= digits <= MAX_DIGITS:
        msg = f"digits {digits!r:.40} is not an integer from 0 to {MAX_DIGITS}"
        raise ValueError(msg)
    return BaselineLayout(schema, digits)


def parts_in(folder: Path, kind: str) -> list[Path]:
    """Return the files of all parts of one kind; empty if the folder is missing."""
    try:
        return list((folder / kind).glob("*.json*"))
    except FileNotFoundError:  # another process may have removed the folder
        return []


def unexpected_file(folder: Path) -> str:
    """Return the path of an unexpected file or link among the parts; empty if there is none."""
    for kind in (BUCKETS, CORPUS):
        if (folder / kind).is_symlink():
            return kind
        for path in sorted(parts_in(folder, kind)):
            if not _PART.fullmatch(path.name) and not _SCHEMA_1_CASE.fullmatch(path.name):
                return f"{kind}/{path.name}"
    return ""


def leftovers(folder: Path, layout: BaselineLayout) -> list[Path]:
    """Return files that killed processes left: parts of another layout, and temporary files.

    These files are not read, and the next write of the baseline removes them.
    """
    expected = {file_of(kind, part) for kind in (BUCKETS, CORPUS) for part in layout.parts()}
    candidates = [folder / file_of(CORPUS, "")] if layout.digits else []
    candidates += folder.glob(f"{_TEMPORARY_PREFIX}*")
    for kind in (BUCKETS, CORPUS):
        candidates += parts_in(folder, kind)
        candidates += (folder / kind).glob(f"{_TEMPORARY_PREFIX}*")
    return sorted(
        path
        for path in candidates
        if path.relative_to(folder).as_posix() not in expected and path.is_file()
    )
