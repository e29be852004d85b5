"""Defects that are planted into the decompositions and lowerings of PyTorch's compiler."""

from graph_defects.table import DEFECTS, Defect, defect_named_by

__all__ = ["DEFECTS", "Defect", "defect_named_by"]
