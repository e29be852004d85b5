"""Print branch coverage as a markdown table: a row per package, and the core's gaps per module.

python setup/coverage_table.py COVERAGE.json
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from pathlib import Path, PurePosixPath
from typing import Any

CORE = ("domain", "execution", "oracles", "triage", "baseline", "trackers", "campaign")
_COUNTS = ("covered_lines", "num_statements", "covered_branches", "num_branches")


def main(report: Path) -> None:
    """Print the table of a report that `coverage json` wrote."""
    files = json.loads(report.read_text("utf-8"))["files"]
    packages: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for name, measured in files.items():
        packages[_package(name)].append(measured["summary"])
    print("| package | lines | branches |\n| --- | ---: | ---: |")
    for package, summaries in sorted(packages.items()):
        print(f"| {package} | {_share(summaries, 0)} | {_share(summaries, 2)} |")
    print(
        f"| all | {_share([f['summary'] for f in files.values()], 0)} | "
        f"{_share([f['summary'] for f in files.values()], 2)} |"
    )
    print("\n| module of the core | uncovered lines |\n| --- | --- |")
    for name, measured in sorted(files.items()):
        if _package(name) in CORE and measured["missing_lines"]:
            print(f"| {name} | {', '.join(map(str, measured['missing_lines']))} |")


def _package(name: str) -> str:
    parts = PurePosixPath(name).parts
    return parts[1] if len(parts) > 2 else "ciguard"  # noqa: PLR2004 - a module of the root


def _share(summaries: list[dict[str, Any]], first: int) -> str:
    """Return covered of all, as a share: of lines from count 0, of branches from count 2."""
    covered, total = (sum(s[name] for s in summaries) for name in _COUNTS[first : first + 2])
    return f"{100 * covered / total:.1f} % of {total}" if total else "none"


if __name__ == "__main__":
    main(Path(sys.argv[1]))
