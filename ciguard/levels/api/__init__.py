"""Level `api`: one call of one public function, layer or tensor method at a time.

`ApiLevel` walks the APIs in rounds; `CallGenerator` makes the calls of one API.
"""

from ciguard.levels.api.calls import CallGenerator
from ciguard.levels.api.level import ApiLevel

__all__ = ["ApiLevel", "CallGenerator"]
