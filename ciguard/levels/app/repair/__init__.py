"""From what test runs showed to suggestions: sentences with measures, and patches.

`measures` says how good a branch is, `labels` and `thresholds` find what would make it better,
`relatedness` which labels mean something alike or may be meant. `patches` changes single
sub-conditions of a file, `suggestions` puts all in words, `dead_conditions` repairs those that are
always the same, `combining` makes one patch of several.
"""

from ciguard.levels.app.repair.combining import combined_patches
from ciguard.levels.app.repair.dead_conditions import nearest_in, repairs
from ciguard.levels.app.repair.suggestions import Suggestion

__all__ = [
    "Suggestion",
    "combined_patches",
    "nearest_in",
    "repairs",
]
