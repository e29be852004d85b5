"""Source analysis: what it costs to find the APIs that a repository uses.

    python benchmarks/source_analysis.py FOLDER

Reads every Python file below FOLDER, as `ciguard plan` does, and prints CPU seconds beside those of
parsing alone.
"""

from __future__ import annotations

import argparse
import ast
import time
import warnings
from pathlib import Path

from ciguard.planning.api_names import ApiNames
from ciguard.planning.uses import find_uses


def main() -> None:
    """Print one table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    root: Path = parser.parse_args().folder.resolve()
    sources = [
        (path.relative_to(root).as_posix(), path.read_bytes())
        for path in sorted(root.rglob("*.py"))
    ]
    began_s = time.process_time()
    for _, content in sources:
        _parse(content)
    parsed_s = time.process_time()
    usage = find_uses(sources, (), ApiNames())
    analysed_s = time.process_time()
    size_mb = sum(len(content) for _, content in sources) / 1e6
    lines = sum(content.count(b"\n") for _, content in sources)
    print(f"{len(sources):,} files, {size_mb:.1f} MB, {lines:,} lines")
    print(f"{'parse':<10}{parsed_s - began_s:8.1f} CPU s")
    per_file_ms = 1_000 * (analysed_s - parsed_s) / max(1, len(sources))
    print(f"{'analyse':<10}{analysed_s - parsed_s:8.1f} CPU s, {per_file_ms:.1f} ms per file")
    print(f"{len(usage.places):,} APIs, {len(usage.problems)} notes")


def _parse(content: bytes) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ast.parse(content)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return  # counted, like every other file


if __name__ == "__main__":
    main()
