"""What lies in this checkout, copied without its history and without what git ignores."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from action_file import ROOT
from action_scenarios import git

if TYPE_CHECKING:
    from pathlib import Path


def copy_checkout(folder: Path) -> Path:
    """Copy the files that git tracks or would, and return the folder."""
    listed = git(ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
    for name in (name for name in listed if (ROOT / name).is_file()):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    return folder
