"""State of one call of the command line that is not a setting."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(slots=True)
class Session:
    """State of the running command."""

    folder: Path = Path()
    """Folder for the traceback of an internal error: the output folder, once it is known."""
