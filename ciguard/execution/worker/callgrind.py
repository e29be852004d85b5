"""Counts of executed instructions, by the process that runs under Valgrind's tool callgrind.

Valgrind recognises a sequence of instructions without effect as a request. `rax` points to its
number and arguments. Sources: `valgrind.h` (`VALGRIND_DO_CLIENT_REQUEST`) and `callgrind.h`.
"""

import ctypes
import glob
import mmap
import os
import re

CODE = bytes.fromhex(
    "4889f84889f2"  # mov rax, rdi; mov rdx, rsi
    "48c1c70348c1c70d48c1c73d48c1c733"  # rol rdi, 3; rol rdi, 13; rol rdi, 61; rol rdi, 51
    "4887db"  # xchg rbx, rbx: the request
    "4889d0c3"  # mov rax, rdx; ret
)
"""Function for x86-64 that makes a request, with a pointer and the result outside of Valgrind."""
IS_RUNNING = 0x1001
DUMP, ZERO, START = (0x43540000 + number for number in (0, 1, 4))
_SUMMARY = re.compile(r"^summary: (\d+)", re.MULTILINE)


class InstructionCounter:
    """Counts the instructions of all threads of this process, without those of the kernel."""

    def __init__(self, files: str) -> None:
        """Prepare for counting.

        Args:
            files: prefix of the files that callgrind writes; `--callgrind-out-file=PREFIX.%p`.
        """
        self._files = files
        self._memory = mmap.mmap(
            -1,
            len(CODE),
            flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS,
            prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC,
        )
        self._memory.write(CODE)
        address = ctypes.addressof(ctypes.c_char.from_buffer(self._memory))
        function = ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_void_p, ctypes.c_uint64)
        self._function = function(address)
        self._arguments = (ctypes.c_uint64 * 6)()

    def request(self, number: int) -> int:
        """Make a request, and return its result; 0 outside of Valgrind."""
        self._arguments[0] = number
        return int(self._function(ctypes.addressof(self._arguments), 0))

    def start(self) -> None:
        """Begin to observe instructions, which makes this process and its children slower.

        Raises:
            RuntimeError: if this process does not run under Valgrind.
        """
        if not self.request(IS_RUNNING):
            message = "this process does not run under Valgrind"
            raise RuntimeError(message)
        self.request(START)

    def begin(self) -> None:
        """Begin to count at 0."""
        self.request(ZERO)

    def end(self) -> int:
        """Return the number of instructions since `begin`."""
        self.request(DUMP)
        written = glob.glob(f"{glob.escape(self._files)}.{os.getpid()}.*")
        path = max(written, key=lambda name: int(name.rpartition(".")[2]))
        with open(path, encoding="utf-8", errors="replace") as file:
            profile = file.read()
        os.unlink(path)
        return summary(profile)


def summary(profile: str) -> int:
    """Return the number of instructions in a file of callgrind.

    Raises:
        ValueError: if it has none.
    """
    match = _SUMMARY.search(profile)
    if match is None:
        message = "callgrind has written no summary"
        raise ValueError(message)
    return int(match[1])
