"""What the packages of planted defects have in common; each of their wheels holds it.

Python 3.9 and later, the standard library alone.
"""

from defect_planting.importing import after_import
from defect_planting.places import Place, put

__all__ = ["Place", "after_import", "put"]
