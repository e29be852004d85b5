"""Accuracy of an application's branches on synthesised inputs (Keeper, section 4).

`aims` derives the inputs that a sub-condition is meant for. `trials` runs a function on them, with
an engine in place of the service. `verdicts` judges the sub-conditions by recall and precision.
"""

from ciguard.levels.app.accuracy.assess import Assessed, assess
from ciguard.levels.app.accuracy.robustness import Robustness
from ciguard.levels.app.accuracy.settings import AccuracyOptions, settings_for
from ciguard.levels.app.accuracy.verdicts import ConditionVerdict

__all__ = [
    "AccuracyOptions",
    "Assessed",
    "ConditionVerdict",
    "Robustness",
    "assess",
    "settings_for",
]
