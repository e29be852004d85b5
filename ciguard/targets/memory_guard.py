"""The memory guard: a library in C that finds invalid memory accesses of released wheels.

`memory_guard.c` describes how it works. It is compiled once per content, with the C compiler.
"""

from __future__ import annotations

import hashlib
import platform
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from ciguard.errors import ProvisioningError
from ciguard.targets.store import cache_folder

COMPILATION = ("cc", "-O2", "-shared", "-fPIC", "-x", "c", "-")
"""Command that compiles the guard from standard input; the option `-o` follows."""
_SOURCE = Path(__file__).with_suffix(".c")
_SEARCH_PATH = "/usr/bin:/bin"
_LIMIT_S = 60.0
_COMMENT = re.compile(r"[ \t]*/\*.*?\*/", re.DOTALL)
_EMPTY_LINES = re.compile(r"\n\s*\n+")


def guard_source() -> str:
    """Return the guard's source without comments and empty lines, for a script."""
    text = _COMMENT.sub("", _SOURCE.read_text("utf-8"))
    return _EMPTY_LINES.sub("\n", text).strip() + "\n"


def build_guard() -> Path:
    """Return the path of the guard's library in the cache; compile it if it is missing.

    Raises:
        ProvisioningError: if it cannot be compiled.
    """
    source = _SOURCE.read_bytes()
    recipe = " ".join((*COMPILATION, platform.machine())).encode()
    digest = hashlib.sha256(recipe + source).hexdigest()[:16]
    library = cache_folder() / "guard" / f"memory_guard-{digest}.so"
    if not library.exists():
        _compile(source, library)
    return library


def _compile(source: bytes, library: Path) -> None:
    compiler = shutil.which(COMPILATION[0], path=_SEARCH_PATH)
    if compiler is None:
        msg = "the memory guard is off: no C compiler. Install one, e.g. 'apt-get install gcc'."
        raise ProvisioningError(msg)
    try:
        library.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=library.parent) as folder:
            built = Path(folder, library.name)
            command = [compiler, *COMPILATION[1:], "-o", str(built)]
            subprocess.run(command, input=source, capture_output=True, check=True, timeout=_LIMIT_S)
            built.replace(library)  # atomic: another process may build it, too
    except (OSError, subprocess.SubprocessError) as error:
        output = getattr(error, "stderr", b"") or b""
        lines = output.decode("utf-8", "replace").strip().splitlines()
        reason = next((line for line in lines if "error" in line), str(error))
        msg = f"the memory guard is off: {compiler} cannot compile it: {reason}"
        raise ProvisioningError(msg) from error
