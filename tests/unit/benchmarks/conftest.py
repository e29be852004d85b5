"""Makes the benchmarks importable, behind everything else: one of them is named like a library."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[3] / "benchmarks"))
