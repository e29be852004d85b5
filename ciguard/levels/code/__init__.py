"""Level `code`: model programs cut into blocks, and put together anew (MoCo)."""

from ciguard.levels.code.syntax import Imports, imports_of

__all__ = ["Imports", "imports_of"]
