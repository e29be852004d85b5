"""Known defects for public functions of PyTorch: which ones a seed chooses, and how they are made.

A package of its own, installed beside torch: Python 3.9 and later, the standard library, torch.
The choice alone, which this door offers, needs no torch.
"""

from planted_defects.choice import Defect, defects
from planted_defects.kinds import Argument, Kind, Trace
from planted_defects.table import CONTROLS, PLANTABLE, Plantable

__all__ = ["CONTROLS", "PLANTABLE", "Argument", "Defect", "Kind", "Plantable", "Trace", "defects"]
