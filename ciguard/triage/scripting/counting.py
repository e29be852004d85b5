"""Counts of instructions in a script: a restart under Valgrind, and the count of the call."""

from __future__ import annotations

import inspect
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from ciguard.execution.worker.callgrind import InstructionCounter
from ciguard.oracles import MORE_INSTRUCTIONS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ciguard.domain.findings import Finding

MODULES = frozenset({"ctypes", "gc", "glob", "mmap", "os", "re", "shutil", "sys", "tempfile"})
"""Modules of the standard library that the source text needs."""
_RESTART = """\
# `{command}` counts instructions: it starts itself again under Valgrind.
if {condition}"CALLGRIND_FILES" not in os.environ:
    valgrind = os.path.realpath(shutil.which("valgrind") or "valgrind")
    if not os.path.exists(valgrind):
        raise SystemExit("Valgrind is not installed; e.g. apt-get install valgrind")
    files = os.path.join(tempfile.mkdtemp(), "callgrind")
    os.environ.update(CALLGRIND_FILES=files, PYTHONHASHSEED="0", OMP_NUM_THREADS="1")
    options = ["--tool=callgrind", "--instr-atstart=no", "--callgrind-out-file=" + files + ".%p"]
    os.execv(valgrind, [valgrind, *options, sys.executable, *sys.argv])


"""
_COUNT = """
if "CALLGRIND_FILES" in os.environ:
    counter = InstructionCounter(os.environ["CALLGRIND_FILES"])
    counter.start()
    for _ in range(20):  # Python specialises the code of a function after a few calls
{call}
    gc.disable()
    counter.begin()
    for _ in range(20):
{call}
    print("measured: %.0f instructions per call" % (counter.end() / 20))
    sys.exit()
"""
_OPTION = "--instructions"


def is_counted_only(finding: Finding) -> bool:
    """Return whether a finding is only about instructions, so that its script needs Valgrind."""
    return finding.kind == MORE_INSTRUCTIONS


def restart(finding: Finding) -> str:
    """Return the statements that start the script again, and the definition of the counter."""
    is_only = is_counted_only(finding)
    condition = "" if is_only else f'"{_OPTION}" in sys.argv and '
    command = "python SCRIPT" + ("" if is_only else f" {_OPTION}")
    return _RESTART.format(command=command, condition=condition) + _counter_source() + "\n\n"


def _counter_source() -> str:
    """Return the definitions of the counter, without the docstring and imports of its module."""
    source = Path(inspect.getfile(InstructionCounter)).read_text("utf-8")
    return source[source.index("CODE = ") :].strip() + "\n"


def counted(calls: Sequence[str]) -> str:
    """Return source text that counts the instructions of a call, prints them and exits."""
    return _COUNT.strip("\n").format(call=textwrap.indent("\n".join(calls), " " * 8))
