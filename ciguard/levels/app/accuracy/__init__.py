"""Accuracy of an application's branches on synthesised inputs (Keeper paper, section 4).

`aims` derives the inputs that should make a sub-condition true. `trials` runs a function on them,
with an engine in place of the service. `verdicts` judges sub-conditions by recall and precision.
"""

from ciguard.levels.app.accuracy.assess import Assessment, assess
from ciguard.levels.app.accuracy.robustness import Robustness
from ciguard.levels.app.accuracy.settings import AccuracyOptions, settings_for
from ciguard.levels.app.accuracy.verdicts import ConditionVerdict

__all__ = [
    "AccuracyOptions",
    "Assessment",
    "ConditionVerdict",
    "Robustness",
    "assess",
    "settings_for",
]
