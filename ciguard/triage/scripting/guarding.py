"""The memory guard in a script: its source, and a restart of the script under it."""

from __future__ import annotations

from ciguard.execution.worker.guard import begins_at_page
from ciguard.targets import GUARD_COMPILATION, GUARDED, guard_source

MODULES = frozenset({"ctypes", "os", "subprocess", "sys", "tempfile"})
"""Modules of the standard library that `restart` needs."""
CALL = 'guard.guard_label(b"")  # the call begins'
"""Statement before the call."""
END = "guard.guard_end()  # checks the bytes around the blocks"
"""Statement after the call."""
_RESTART = '''\
# The guard puts each block next to an unreadable page, and keeps freed blocks unreadable.
# It is compiled, and this script starts again under it. The call is at the end.
GUARD = r"""
{source}"""
guard = ctypes.CDLL(None)
if not hasattr(guard, "guard_begin"):
    library = os.path.join(tempfile.mkdtemp(), "guard.so")
    command = [{command}, "-o", library]
    subprocess.run(command, input=GUARD.encode(), check=True)
    os.environ["LD_PRELOAD"] = library
    os.execv(sys.executable, [sys.executable, *sys.argv])
'''


def is_guarded(mode: str) -> bool:
    """Return whether a script for a target in this mode needs the guard."""
    return mode == GUARDED


def restart() -> str:
    """Return the statements that start the script again under the guard."""
    command = ", ".join(f'"{word}"' for word in GUARD_COMPILATION)
    return _RESTART.format(source=guard_source(), command=command)


def begin(seed: int) -> str:
    """Return the statement before the arguments of a case with this seed."""
    return f"guard.guard_begin({int(begins_at_page(seed))})"
