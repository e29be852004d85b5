"""Changes of the arguments of a call: all tensors alike, other elements, or one argument at a time.

`mutate_jointly` and `change_contents` draw one change, `alternatives` goes through all of them.
"""

from __future__ import annotations

from ciguard.values.changes.alternatives import alternatives
from ciguard.values.changes.contents import change_contents
from ciguard.values.changes.joint import mutate_jointly

__all__ = ["alternatives", "change_contents", "mutate_jointly"]
