"""Defects that are planted into the decompositions and lowerings of PyTorch's compiler."""

from graph_defects.table import DEFECTS, Defect

__all__ = ["DEFECTS", "Defect"]
