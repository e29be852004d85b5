"""Repair: suggested changes, with measures and patches, from the results of trials.

`measures` computes the recall and precision of a branch. `labels` and `thresholds` search for
improvements, and `relatedness` finds labels of similar meaning. `patches` edits single
sub-conditions of a file; `patch_merge` merges several patches. `suggestions` writes the sentences,
and `dead_conditions` repairs constant sub-conditions.
"""

from ciguard.levels.app.repair.dead_conditions import nearest_labels_in, repairs
from ciguard.levels.app.repair.patch_merge import merge_patches
from ciguard.levels.app.repair.suggestions import Suggestion

__all__ = [
    "Suggestion",
    "merge_patches",
    "nearest_labels_in",
    "repairs",
]
