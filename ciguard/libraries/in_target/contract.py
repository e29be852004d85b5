"""What an adapter is: the part of a library's support that runs inside the target.

Runs in a target's interpreter (Python 3.9 and later, standard library and numpy only).
"""

from __future__ import annotations

import importlib
from typing import (
    Any,
    Callable,
    Iterable,
    Iterator,
    NamedTuple,
    Sequence,
)

REJECTED = "rejected"
ERRORED = "errored"
EXHAUSTED = "exhausted"
LOST = "lost"
"""The device answers nothing any more in this process, whatever comes next."""

INTERNAL_PYTHON_ERRORS = (NameError, RecursionError, SystemError, UnboundLocalError)
"""Raised by a defect in library code, whatever the user passed."""


class CannotComputeError(NotImplementedError):
    """The target cannot do what a case asks for; that is no fault of the library."""


class LayerError(Exception):
    """What a library raised in one layer of a model."""

    def __init__(self, node: str, cause: Exception, *, unbuilt: bool) -> None:
        super().__init__(f"layer {node!r}: {cause}")
        self.node = node
        self.cause = cause
        self.unbuilt = unbuilt
        """Whether there is no such layer in this version, or none with these arguments."""


class ModelRun(NamedTuple):
    """One run of one layer graph, its data already made."""

    case: dict[str, Any]
    """Third member of the JSON form of a `ciguard.domain.models.ModelCase`."""
    data: Sequence[Any]
    """A numpy array for each input of the graph, in order."""
    truth: Any
    """What the first output ought to be: a numpy array."""
    weights: Callable[..., list[Any]]
    """Makes a layer's weights, see `ciguard.execution.worker.layer_weights.arrays`."""


class Adapter:
    """Base of every adapter. One instance lives in one worker.

    A module that holds an adapter names its class `ADAPTER`:

        ADAPTER = TorchAdapter
    """

    module = ""
    """Import name of the library."""
    mutable = False
    """Whether calls can change its tensors in place, or return views of them."""

    def load(self, device: str) -> None:
        """Import the library, choose `device` (`cpu`, `cuda:0`), one thread, quiet logs.

        Called once, before the process forks: it must start no thread and run no operation where
        the library does not survive a fork after that.

        Raises:
            RuntimeError: if the device is absent.
        """
        del device
        importlib.import_module(self.module)

    def shares_compiled(self, mode: str) -> bool:
        """Return whether workers share what is compiled, see `keep_compiled`; never by default.

        They can forge it for each other.
        """
        del mode
        return False

    def keep_compiled(self, folder: str) -> None:
        """Let workers share what the library compiles, in a folder of their server's own.

        Called after `load`; the folder need not exist, and is gone when the server is. Nothing by
        default.
        """
        del folder

    def warm_up(self) -> None:
        """Run a few harmless operations, so that every forked worker finds the library prepared.

        Called after `load` where the library survives a fork after use; nothing by default.
        """

    def rehearsal(self) -> Sequence[list[Any]]:
        """Return harmless cases in JSON form, run after `warm_up` until the worker's code is warm.

        None by default.
        """
        return ()

    def start_device(self, memory_mib: int) -> None:
        """Start the device in this process, and compute on it once: no case pays for that.

        Called in each process that runs cases on a device other than the CPU, after the fork.
        Nothing by default.

        Args:
            memory_mib: of the device's memory that this process may take, where that can be bound.

        Raises:
            Exception: whatever the library raises where the device cannot be used.
        """
        del memory_mib

    def version(self) -> str:
        """Return the library's own version."""
        return str(importlib.import_module(self.module).__version__)

    def describe(self) -> Iterator[dict[str, Any]]:
        """Yield one record per public API, as JSON of `ciguard.domain.records.ApiRecord`."""
        raise NotImplementedError

    def models(self, sources: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """Yield one record per seed model: its graph as data, or why there is none.

        Only for libraries whose models are graphs of layers; see
        `ciguard.libraries.keras.in_target.seeds`.
        """
        raise NotImplementedError

    def resolve(self, path: str) -> Any:
        """Return the object with this dotted public name.

        Raises:
            AttributeError: if this version has no such name.
        """
        parts = path.split(".")
        found: Any = importlib.import_module(parts[0])
        for depth, part in enumerate(parts[1:], start=2):
            try:
                found = getattr(found, part)
            except AttributeError:
                try:
                    found = importlib.import_module(".".join(parts[:depth]))
                except ImportError:
                    raise AttributeError(path) from None
        return found

    def tensor(self, array: Any, dtype: str) -> Any:
        """Return a tensor of the library on the device, from a numpy array.

        Args:
            array: elements, any shape; its dtype is `dtype` where numpy has it, float32 for
                bfloat16 and other types that numpy lacks, object of `bytes` for `string`.
            dtype: common name, see `ciguard.domain.dtypes`.

        Raises:
            Exception: any, if this library has no such dtype; the case is then not counted.
        """
        raise NotImplementedError

    def dtype(self, name: str) -> Any:
        """Return the library's dtype object for a common name.

        Raises:
            AttributeError: if the library has no such dtype.
        """
        raise NotImplementedError

    def read(self, output: Any) -> dict[str, Any] | None:
        """Read a tensor of the library back; None if `output` is not one.

        Returns:
            `{"dtype": common name, "array": numpy array}`; without `array` when the elements
            cannot be read (meta, quantised, sparse, resource), then with `"note": why`, and
            with `"shape"` where it has one.
            numpy has no bfloat16: its elements come back as float32, with dtype `bfloat16`.
        """
        raise NotImplementedError

    def effects(self, made: Sequence[Any], output: Any) -> tuple[Sequence[int], Sequence[int]]:
        """Return the places of tensors that were changed, and of those a result shares memory with.

        Called after every case that made something; must cost a fraction of a microsecond.

        Args:
            made: what `tensor` made for the case, where `mutable`, and numpy arrays.
            output: what the call returned.
        """
        del made, output
        return (), ()

    def reset(self, seed: int) -> None:
        """Restore the library's global state and seed its generators. Called before every case.

        Must cost a few microseconds: check first, restore only what a case has changed.
        """
        raise NotImplementedError

    def vary(self, seed: int) -> None:
        """Let Python and numpy draw other numbers from now on, where `reset` puts them back.

        Libraries take seeds of their own from these generators, which a case's seed leaves alone.
        """

    def modes(self) -> dict[str, Callable[[Callable[..., Any], list[Any]], Any]]:
        """Return how to run `function(*tensors)` in each mode other than eagerly, by name.

        The function takes nothing but tensors: all else that a call was given is written into it.
        It is a layer's object, or a function whose source is in `linecache`. Needs no `load`.
        """
        return {}

    def is_tensor(self, value: Any) -> bool:
        """Return whether a mode takes this value as an input; all else is a constant to it."""
        return self.read(value) is not None

    def message(self, error: BaseException) -> str:
        """Return what an error in a mode says, without what only tells how the mode was entered."""
        return str(error)

    def cannot_express(self, error: BaseException) -> bool:
        """Return whether an error in a mode says that the mode cannot express such a call at all.

        When in doubt True: only what eager execution accepts and a mode should accept is a finding.
        """
        del error
        return False

    def build_layer(self, layer: Any, inputs: list[Any]) -> None:
        """Let a layer draw the weights that it would draw when first called: eagerly, as it does.

        Nothing by default.
        """

    def run_model(self, run: ModelRun) -> Any:
        """Run a layer graph and return what its check compares, by name.

        Raises:
            CannotComputeError: if the target cannot run it, as most libraries cannot.
            LayerError: whatever the library raises in a layer.
            Exception: whatever else the library raises.
        """
        del run
        msg = f"{self.module} runs no layer graphs"
        raise CannotComputeError(msg)

    def make_layer(self, layer: Any, arguments: Sequence[Any], keywords: dict[str, Any]) -> Any:
        """Return a layer's object, on the device, with weights that depend on the seed alone.

        Generators differ between devices: where a layer draws its weights, it is built on the CPU.
        """
        return layer(*arguments, **keywords)

    def synchronise(self) -> None:
        """Wait until the device has finished; nothing to do on a CPU.

        Raises:
            Exception: what went wrong on the device since it was waited for last.
        """

    def wait_for(self, output: Any) -> None:
        """Wait until a result is computed, and the device has finished."""
        del output
        self.synchronise()

    def release_memory(self) -> None:
        """Give back what the library keeps of the device's memory; nothing by default."""

    def device_memory(self) -> tuple[int, int] | None:
        """Return bytes of the device's memory in use now, and at most since the last call.

        None where the library does not say.
        """
        return None

    def classify(self, error: BaseException) -> str:
        """Tell a clean user error (REJECTED) from an internal one (ERRORED) or a limit (EXHAUSTED).

        LOST where the device is of no further use to this process. When in doubt REJECTED: a false
        alarm costs more than a missed finding.
        """
        if isinstance(error, MemoryError):
            return EXHAUSTED
        if isinstance(error, INTERNAL_PYTHON_ERRORS):
            return ERRORED
        return REJECTED
