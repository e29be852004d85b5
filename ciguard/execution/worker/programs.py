"""Cases of level `code`: whole programs, run like scripts.

A program runs in a fresh `__main__`. Its changes to the interpreter are undone here, those to the
library by the adapter. The variables of its module are its output.
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

from ciguard.execution.worker.memory import private_bytes, release_freed_memory
from ciguard.libraries.in_target.contract import REJECTED

FILE = "<program>"
_VIOLATING = "violating"
_SCALARS = (bool, int, float, complex, np.generic)
_NUMBERS = (*_SCALARS, np.ndarray)
_LOOK_UPS = frozenset({"__getattr__", "__getattribute__"})
_RAISE = opcode.opmap["RAISE_VARARGS"]
_STREAMS = ("stdin", "stdout", "stderr")
_THREADS_S = 1.0
"""Seconds to wait for the threads that a program has left running."""


class ProgramError(Exception):
    """A program, or the block that runs before it, raised an exception."""

    def __init__(self, cause: BaseException, *, in_block: bool) -> None:
        super().__init__(str(cause))
        frames = _frames_from_program(cause)
        lines = [line for frame, line in frames if frame.f_code.co_filename == FILE]
        self.cause = cause
        self.is_program_error = _is_program_error(cause, frames)
        """True if the program itself is at fault, so that the error is not a library's defect."""
        line = cause.lineno if isinstance(cause, SyntaxError) and not lines else (lines or [0])[-1]
        self.where = f"{'block alone, ' if in_block else ''}line {line or 0}: "


class ProgramRunner:
    """Runs programs with the adapter of one library."""

    def __init__(self, adapter: Any) -> None:
        self._adapter = adapter
        self._modules: list[types.ModuleType] = []
        self._threads: set[threading.Thread] = set()
        self._code: tuple[str, Any] | None = None
        """Text and code of the last program."""

    def run(self, case: dict[str, Any]) -> dict[str, Any]:
        """Run the block alone, if there is one, and then the program.

        Args:
            case: third member of the JSON form of a `ciguard.domain.programs.ProgramCase`.

        Returns:
            `block`: class of the error that the block raised; empty if it raised none.
            `outputs`: numbers, arrays and tensors among the program's variables, by name.
            For several cycles, `outputs` holds the numbers only. `memory` is the memory of the
            process after each cycle, in bytes, and `cpu` the CPU time of each cycle, in seconds.

        Raises:
            ProgramError: if either fails. In a violating case, the library may reject the block;
                the program runs nevertheless.
        """
        self._threads = set(threading.enumerate())
        seed = case.get("seed", 0)
        error_name = self._run_block(case, seed) if case.get("block") else ""
        self._adapter.reset(seed)
        cycles = case.get("cycles", 1)
        if cycles > 1:
            return {"block": error_name, **self._repeat(case["source"], cycles)}
        return {"block": error_name, "outputs": self._outputs(self._run(case["source"]))}

    def forget(self) -> None:
        """Release the variables of programs, and wait briefly for their threads."""
        self._clear()
        deadline = time.monotonic() + _THREADS_S
        for thread in threading.enumerate():
            if thread not in self._threads and not thread.daemon:
                thread.join(max(0.0, deadline - time.monotonic()))
        linecache.cache.pop(FILE, None)

    def _clear(self) -> None:
        for module in self._modules:
            vars(module).clear()
        self._modules.clear()
        gc.collect()  # models contain reference cycles

    def _run_block(self, case: dict[str, Any], seed: int) -> str:
        self._adapter.reset(seed)
        try:
            self._run(case["block"], in_block=True)
        except ProgramError as error:
            is_refusal = (
                self._adapter.classify(error.cause) == REJECTED and not error.is_program_error
            )
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
            # Tensors would count as leaked memory of the cycle.
            outputs = {
                key: value for key, value in variables.items() if isinstance(value, _SCALARS)
            }
            self._clear()
            release_freed_memory()  # otherwise a leak would reuse freed memory, and not show
            sizes.append(private_bytes())
        return {
            "outputs": self._outputs(outputs),
            "memory": np.array(sizes),
            "cpu": np.array(times),
        }

    def _run(self, source: str, *, in_block: bool = False) -> dict[str, Any]:
        """Run one program, and return its variables.

        Raises:
            ProgramError: if it fails.
        """
        # TorchScript and tracebacks read the source of functions from `linecache`.
        linecache.cache[FILE] = (len(source), None, source.splitlines(keepends=True), FILE)
        module = types.ModuleType("__main__")
        self._modules.append(module)
        try:
            with _script_environment(module):
                exec(self._compiled(source), vars(module))  # noqa: S102 - it is the case
                self._adapter.synchronise()
        except BaseException as error:
            if not (isinstance(error, SystemExit) and not error.code):
                raise ProgramError(error, in_block=in_block) from error
        return vars(module)

    def _compiled(self, source: str) -> Any:
        """Return a program's code object, which is the same in all its cycles.

        TensorFlow caches half a megabyte per code object for its stacks, which would look like a
        leak if each cycle compiled the program again.
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
        content = self._adapter.read(value)
        return content is not None and content.get("note") != "symbolic"


@contextlib.contextmanager
def _script_environment(module: types.ModuleType) -> Iterator[None]:
    """Make `module` the main module, as pickling needs; undo the program's changes at the end."""
    streams = {name: getattr(sys, name) for name in _STREAMS}
    main, argv, path = sys.modules["__main__"], sys.argv[:], sys.path[:]
    variables, folder = dict(os.environ), os.getcwd()
    state, numpy_state = random.getstate(), np.random.get_state()  # noqa: NPY002 - the global one
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
        random.setstate(state)
        np.random.set_state(numpy_state)  # noqa: NPY002 - the global one
        gc.enable()


def _frames_from_program(error: BaseException) -> list[tuple[types.FrameType, int]]:
    """Return the frames and lines of a stack, beginning with the program's first frame."""
    frames = list(traceback.walk_tb(error.__traceback__))
    program_frames = [index for index, (frame, _) in enumerate(frames) if _is_of_program(frame)]
    return frames[program_frames[0] :] if program_frames else []


def _is_of_program(frame: types.FrameType) -> bool:
    return frame.f_code.co_filename == FILE


def _is_program_error(error: BaseException, frames: list[tuple[types.FrameType, int]]) -> bool:
    """Return whether the program raised an error itself, or uses a name that is missing."""
    if isinstance(error, SystemExit) or not frames:
        return isinstance(error, (SystemExit, SyntaxError))
    (last, _), *callers = frames[::-1]
    if not _is_of_program(last):
        is_look_up = last.f_code.co_name in _LOOK_UPS and _is_of_program(callers[0][0])
        return is_look_up and isinstance(error, AttributeError)
    if isinstance(error, (AttributeError, ImportError, NameError)):
        return True
    return _raises_itself(error)


def _raises_itself(error: BaseException) -> bool:
    """Return whether the innermost instruction of a stack is a `raise` or an `assert`."""
    innermost = error.__traceback__
    while innermost is not None and innermost.tb_next is not None:
        innermost = innermost.tb_next
    if innermost is None:
        return False
    return innermost.tb_frame.f_code.co_code[innermost.tb_lasti] == _RAISE
