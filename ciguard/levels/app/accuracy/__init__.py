"""Runs an application on inputs that people would recognise, and tells where it does not.

`aims` says what inputs a sub-condition is meant for; `trials` runs a function on them, with an
engine in the place of the service; `verdicts` judges what came of it (Keeper, section 4).
"""

from ciguard.levels.app.accuracy.assess import Assessed, assess
from ciguard.levels.app.accuracy.robustness import Robustness
from ciguard.levels.app.accuracy.trying import Trying, settings_for
from ciguard.levels.app.accuracy.verdicts import ConditionVerdict

__all__ = [
    "Assessed",
    "ConditionVerdict",
    "Robustness",
    "Trying",
    "assess",
    "settings_for",
]
