"""Known defects for the layers of PyTorch, such as programs that are made of them show.

A package of its own, installed beside torch: Python 3.9 and later, the standard library and torch.
The table alone, which this door offers, needs neither.
"""

from code_defects.table import DEFECTS, GROUPS, Defect, Group, Kind

__all__ = ["DEFECTS", "GROUPS", "Defect", "Group", "Kind"]
