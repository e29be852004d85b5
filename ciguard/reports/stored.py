"""Reads the buckets that a run wrote."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from ciguard.domain.findings import Bucket, bucket_from_json
from ciguard.errors import OutputError

if TYPE_CHECKING:
    from pathlib import Path

BUCKETS_FILE = "buckets.jsonl"
RUN_FILE = "run.json"
RUN_SCHEMA = 1


def read_buckets(folder: Path) -> list[Bucket]:
    """Return the buckets of the run in `folder`; an empty list if there was no run.

    Raises:
        OutputError: if the file cannot be read. The message names the line.
    """
    path = folder / BUCKETS_FILE
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError) as error:
        msg = f"{path}: cannot be read: {error}. Run `ciguard run` to write it again."
        raise OutputError(msg) from error
    buckets = []
    for number, line in enumerate(lines, start=1):
        try:
            buckets.append(bucket_from_json(json.loads(line)))
        except ValueError as error:
            msg = (
                f"{path}: line {number}: {error}. The file is damaged, or another version of "
                "ciguard wrote it. Run `ciguard run` to write it again."
            )
            raise OutputError(msg) from error
    return buckets
