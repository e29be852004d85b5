"""Read back the buckets that a run has written."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from ciguard.domain import Bucket, bucket_from_json
from ciguard.errors import OutputError

if TYPE_CHECKING:
    from pathlib import Path

BUCKETS_FILE = "buckets.jsonl"
_MOST_SCRIPT = 100_000
_SCRIPT = re.compile(r"reproducers/[A-Za-z0-9_.-]{1,200}\.py")


def read_script(folder: Path, bucket: Bucket) -> str:
    """Return a bucket's reproducer; empty if there is none.

    The bucket may be anybody's: only a plain file of the run's own folder is read.
    """
    path = folder / bucket.reproducer
    if not _SCRIPT.fullmatch(bucket.reproducer) or path.is_symlink() or not path.is_file():
        return ""
    with path.open(encoding="utf-8", errors="replace") as stream:
        return stream.read(_MOST_SCRIPT)


def read_buckets(folder: Path) -> list[Bucket]:
    """Return the buckets of the run in `folder`; none if there was no run.

    Raises:
        OutputError: if the file cannot be read, naming the line.
    """
    path = folder / BUCKETS_FILE
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError) as error:
        msg = f"{path}: cannot be read: {error}. Run `ciguard run` to write it anew."
        raise OutputError(msg) from error
    buckets = []
    for number, line in enumerate(lines, start=1):
        try:
            buckets.append(bucket_from_json(json.loads(line)))
        except ValueError as error:
            msg = (
                f"{path}: line {number}: {error}. The file is damaged or of another version of "
                "ciguard; run `ciguard run` to write it anew."
            )
            raise OutputError(msg) from error
    return buckets
