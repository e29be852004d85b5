"""Level `function`: calls of the user's annotated functions (aNNoTest)."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ciguard.levels.function.files import needs_of

__all__ = ["needs_of"]


def __getattr__(name: str) -> Any:
    """Import a public name on first use, because reading the level's settings must be fast."""
    if name not in __all__:
        raise AttributeError(name)
    from ciguard.levels.function import files  # noqa: PLC0415 - slow import

    return getattr(files, name)
