"""What one call of the command line knows outside its settings."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(slots=True)
class Session:
    """Lives as long as the command."""

    folder: Path = Path()
    """Where the traceback of a defect goes: the output folder, once it is known."""
