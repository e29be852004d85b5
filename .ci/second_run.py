"""Judge a second run of `make guard`: it may fail for new findings only, and knows the first run's.

python .ci/second_run.py BUCKETS_OF_THE_FIRST_RUN FOLDER_OF_THE_SECOND_RUN
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


def main(first: Path, second: Path) -> int:
    """Return 0 if the second run says what it should, else 1."""
    run = json.loads((second / "run.json").read_text("utf-8"))
    comparisons = {
        fingerprint: bucket["comparison"]
        for bucket in _lines(second / "buckets.jsonl")
        for fingerprint in (bucket["fingerprint"], *bucket["aliases"])
    }
    again = [
        bucket["fingerprint"]
        for bucket in _lines(first)
        if bucket["confirmed"] and bucket["fingerprint"] in comparisons
    ]
    blamed = [fingerprint for fingerprint in again if comparisons[fingerprint] == "new"]
    sys.stdout.write(
        f"second run: {run['verdict']}, exit code {run['exit_code']}; "
        f"{len(again)} buckets of the first run met again, {len(blamed)} of them called new\n"
    )
    return int(run["exit_code"] not in {0, 1} or not again or bool(blamed))


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
