"""What a target is, how it is provisioned with uv, and which libraries ciguard can test.

`parse_target("torch==2.13.0")` reads one, `provision` makes its environment. The `adapters` folder
runs inside the target and is imported from there only.
"""

from ciguard.targets.libraries import LIBRARIES, Companion, ForkPolicy, Library
from ciguard.targets.target import Active, Package, Published, Target, Wheel, unique_names
from ciguard.targets.target_syntax import parse_target

__all__ = [
    "LIBRARIES",
    "Active",
    "Companion",
    "ForkPolicy",
    "Library",
    "Package",
    "Published",
    "Target",
    "Wheel",
    "parse_target",
    "unique_names",
]
