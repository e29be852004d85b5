"""Known defects for the layers of Keras on one backend, PyTorch.

A package of its own, installed beside Keras: Python 3.9 and later, the standard library, Keras and
torch. The table alone, which this door offers, needs neither.
"""

from model_defects.table import DEFECTS, GROUPS, Defect

__all__ = ["DEFECTS", "GROUPS", "Defect"]
