"""Level `function`: calls of the user's annotated functions (aNNoTest)."""

from ciguard.levels.function.files import needs_of

__all__ = ["needs_of"]
