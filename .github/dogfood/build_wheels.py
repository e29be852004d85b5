"""Build the planted library of the tests as it is, and with the regression that it plants."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

SOURCE = Path("tests/planted")
SWITCH = '_IS_NEW = __version__ >= "2"'
"""Turns the planted regression on where it holds."""
BROKEN = "_IS_NEW = True"


def main() -> None:
    """Leave `wheels/healthy` and `wheels/broken` in the working folder."""
    broken = Path("broken")
    shutil.copytree(SOURCE, broken)
    module = broken / "planted" / "__init__.py"
    text = module.read_text("utf-8")
    if SWITCH not in text:
        sys.exit(f"{module}: the line {SWITCH!r} is gone, so there is nothing to break.")
    module.write_text(text.replace(SWITCH, BROKEN), "utf-8")
    for name, folder in (("healthy", SOURCE), ("broken", broken)):
        words = ["--quiet", "--disable-pip-version-check", "--no-deps"]
        argv = [sys.executable, "-m", "pip", "wheel", *words, "--wheel-dir", f"wheels/{name}"]
        subprocess.run([*argv, f"./{folder}"], check=True)


if __name__ == "__main__":
    main()
