"""Cases of level `code`: whole programs, run as a user runs a script.

A program sees a fresh `__main__`, and what it changes of the interpreter is put back; what it
changes of the library is the adapter's to put back. Its module's variables are its output.
"""

from __future__ import annotations

import contextlib
import gc
import linecache
import opcode
import os
import random
import sys
import threading
import time
import traceback
import types
import warnings
from typing import Any, Iterator

import numpy as np

from ciguard.execution.worker.memory import give_back_freed, private_bytes
from ciguard.libraries.in_target.contract import REJECTED

FILE = "<program>"
_VIOLATING = "violating"
_SCALARS = (bool, int, float, complex, np.generic)
_NUMBERS = (*_SCALARS, np.ndarray)
_LOOK_UPS = frozenset({"__getattr__", "__getattribute__"})
_RAISE = opcode.opmap["RAISE_VARARGS"]
_STREAMS = ("stdin", "stdout", "stderr")
_PATIENCE_S = 1.0
"""What threads that a program leaves behind are waited for, all together."""


class ProgramError(Exception):
    """What a program, or the block that is run before it, raised."""

    def __init__(self, cause: BaseException, *, in_block: bool) -> None:
        super().__init__(str(cause))
        frames = _frames_from_program(cause)
        lines = [line for frame, line in frames if frame.f_code.co_filename == FILE]
        self.cause = cause
        self.is_own = _is_own(cause, frames)
        """Whether it is the program that is at fault, or lacks something: it says nothing of what
        was called."""
        line = cause.lineno if isinstance(cause, SyntaxError) and not lines else (lines or [0])[-1]
        self.where = f"{'block alone, ' if in_block else ''}line {line or 0}: "


class ProgramRunner:
    """Runs programs with the adapter of one library."""

    def __init__(self, adapter: Any) -> None:
        self._adapter = adapter
        self._modules: list[types.ModuleType] = []
        self._threads: set[threading.Thread] = set()
        self._code: tuple[str, Any] | None = None
        """Text and code of the program that was run last."""

    def run(self, case: dict[str, Any]) -> dict[str, Any]:
        """Run the block alone, where there is one, then the program.

        Args:
            case: third member of the JSON form of a `ciguard.domain.programs.ProgramCase`.

        Returns:
            `block`: the class of the error that the block ended in, empty where it ran;
            `outputs`: the numbers, arrays and tensors among the program's variables, by name.
            Where it is run more than once, the numbers alone, and by cycle `memory` in bytes that
            the process holds after it, and `cpu` time in seconds that it took.

        Raises:
            ProgramError: if either fails. Where the case breaks what is documented, the block may
                be refused: the program is run all the same.
        """
        self._threads = set(threading.enumerate())
        seed = case.get("seed", 0)
        refused = self._try_block(case, seed) if case.get("block") else ""
        self._adapter.reset(seed)
        cycles = case.get("cycles", 1)
        if cycles > 1:
            return {"block": refused, **self._repeat(case["source"], cycles)}
        return {"block": refused, "outputs": self._outputs(self._run(case["source"]))}

    def forget(self) -> None:
        """Let go of what programs have made, and wait a little for threads that they leave."""
        self._clear()
        limit = time.monotonic() + _PATIENCE_S
        for thread in threading.enumerate():
            if thread not in self._threads and not thread.daemon:
                thread.join(max(0.0, limit - time.monotonic()))
        linecache.cache.pop(FILE, None)

    def _clear(self) -> None:
        for module in self._modules:
            vars(module).clear()
        self._modules.clear()
        gc.collect()  # models are full of circles

    def _try_block(self, case: dict[str, Any], seed: int) -> str:
        self._adapter.reset(seed)
        try:
            self._run(case["block"], in_block=True)
        except ProgramError as error:
            is_refusal = self._adapter.classify(error.cause) == REJECTED and not error.is_own
            if case.get("intent") != _VIOLATING or not is_refusal:
                raise
            return type(error.cause).__name__
        finally:
            self._clear()
        return ""

    def _repeat(self, source: str, cycles: int) -> dict[str, Any]:
        sizes, times = [], []
        outputs: dict[str, Any] = {}
        for _ in range(cycles):
            began = time.process_time()
            variables = self._run(source)
            times.append(time.process_time() - began)
            # Tensors would count as what the cycle leaves behind.
            outputs = {name: one for name, one in variables.items() if isinstance(one, _SCALARS)}
            self._clear()
            give_back_freed()  # what a cycle leaves behind would stand where others were freed
            sizes.append(private_bytes())
        return {
            "outputs": self._outputs(outputs),
            "memory": np.array(sizes),
            "cpu": np.array(times),
        }

    def _run(self, source: str, *, in_block: bool = False) -> dict[str, Any]:
        """Run one program and return its variables.

        Raises:
            ProgramError: if it fails.
        """
        # TorchScript and tracebacks look for the text of functions there.
        linecache.cache[FILE] = (len(source), None, source.splitlines(keepends=True), FILE)
        module = types.ModuleType("__main__")
        self._modules.append(module)
        try:
            with _as_a_script(module):
                exec(self._compiled(source), vars(module))  # noqa: S102 - it is the case
                self._adapter.synchronise()
        except BaseException as error:
            if not (isinstance(error, SystemExit) and not error.code):
                raise ProgramError(error, in_block=in_block) from error
        return vars(module)

    def _compiled(self, source: str) -> Any:
        """Return a program's code, the same where it is run over and over.

        TensorFlow keeps what it has met of code for its stacks: half a megabyte for each that is
        compiled anew, which no user's process does.
        """
        if self._code is None or self._code[0] != source:
            self._code = source, compile(source, FILE, "exec")
        return self._code[1]

    def _outputs(self, variables: dict[str, Any]) -> dict[str, Any]:
        return {
            name: value
            for name, value in sorted(variables.items())
            if not name.startswith("_") and self._is_output(value)
        }

    def _is_output(self, value: Any) -> bool:
        if isinstance(value, _NUMBERS):
            return True
        read = self._adapter.read(value)
        return read is not None and read.get("note") != "symbolic"


@contextlib.contextmanager
def _as_a_script(module: types.ModuleType) -> Iterator[None]:
    """Make `module` the main one, as pickling its classes needs; put back what programs change."""
    streams = {name: getattr(sys, name) for name in _STREAMS}
    main, argv, path = sys.modules["__main__"], sys.argv[:], sys.path[:]
    variables, folder = dict(os.environ), os.getcwd()
    drawn, drawn_by_numpy = random.getstate(), np.random.get_state()  # noqa: NPY002 - the global one
    sys.modules["__main__"], sys.argv[:] = module, ["program.py"]
    try:
        with warnings.catch_warnings():
            yield
    finally:
        sys.modules["__main__"] = main
        sys.argv[:], sys.path[:] = argv, path
        for name, stream in streams.items():
            setattr(sys, name, stream)
        if dict(os.environ) != variables:
            os.environ.clear()
            os.environ.update(variables)
        os.chdir(folder)
        random.setstate(drawn)
        np.random.set_state(drawn_by_numpy)  # noqa: NPY002 - the global one
        gc.enable()


def _frames_from_program(error: BaseException) -> list[tuple[types.FrameType, int]]:
    """Return frames and lines of a stack from the program's first frame on."""
    frames = list(traceback.walk_tb(error.__traceback__))
    own = [place for place, (frame, _) in enumerate(frames) if _is_of_program(frame)]
    return frames[own[0] :] if own else []


def _is_of_program(frame: types.FrameType) -> bool:
    return frame.f_code.co_filename == FILE


def _is_own(error: BaseException, frames: list[tuple[types.FrameType, int]]) -> bool:
    """Return whether an error is the program's own, or says that this version lacks a name."""
    if isinstance(error, SystemExit) or not frames:
        return isinstance(error, (SystemExit, SyntaxError))
    (last, _), *before = frames[::-1]
    if not _is_of_program(last):
        is_look_up = last.f_code.co_name in _LOOK_UPS and _is_of_program(before[0][0])
        return is_look_up and isinstance(error, AttributeError)
    if isinstance(error, (AttributeError, ImportError, NameError)):
        return True
    return _raises_itself(error)


def _raises_itself(error: BaseException) -> bool:
    """Return whether the innermost line of a stack is a `raise` or an `assert`."""
    innermost = error.__traceback__
    while innermost is not None and innermost.tb_next is not None:
        innermost = innermost.tb_next
    if innermost is None:
        return False
    return innermost.tb_frame.f_code.co_code[innermost.tb_lasti] == _RAISE
