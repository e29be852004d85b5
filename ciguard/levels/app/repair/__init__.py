"""Repair: from the results of trials to suggestions with measures, and patches.

`measures` counts how well a branch does. `labels` and `thresholds` search for improvements, and
`relatedness` finds labels of similar meaning. `patches` edits single sub-conditions of a file;
`combining` merges several patches. `suggestions` writes the sentences, and `dead_conditions`
repairs constant sub-conditions.
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
