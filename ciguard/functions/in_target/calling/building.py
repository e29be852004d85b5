"""Builds live objects from the JSON form of values, in the process of the user's module.

Runs in a target's interpreter: standard library only, Python 3.9 and later; numpy and the libraries
are imported when a value needs them.
"""

from __future__ import annotations

import copy
import importlib
import sys
from typing import Any, Callable

from ciguard.functions.in_target.describing.encoding import CHOICE, DTYPE, TENSOR
from ciguard.libraries.in_target.arrays import every_library

Json = Any

NUMPY = "numpy"


class CannotBuildError(Exception):
    """This environment cannot build an argument; the function is not at fault."""


class CallBuilder:
    """Builds the arguments of calls.

    Args:
        library: default library of tensors and dtypes.
        choice: returns the object for a function's name, an argument's name and an index.
        generate: calls the annotated function of a name with named arguments.
    """

    def __init__(
        self,
        library: str,
        choice: Callable[[str, str, int], Any],
        generate: Callable[[str, dict[str, Any]], Any],
    ) -> None:
        self._library = library
        self._choice = choice
        self._generate = generate
        self._builders: dict[str, Callable[[Json], Any]] = {
            "l": lambda e: [self.value(item) for item in e[1]],
            "p": lambda e: tuple([self.value(item) for item in e[1]]),
            "d": lambda e: self.named(e[1]),
            "f": lambda e: float(e[1]),
            "z": lambda e: complex(float(e[1]), float(e[2])),
            "b": lambda e: e[1].encode("latin-1"),
            "a": array_of,
            "t": lambda e: tensor_of(self._library, e),
            "y": lambda e: dtype_of(self._library, e[1]),
            "m": lambda e: member(e[1]),
            "c": self._call,
        }

    def value(self, encoded: Json) -> Any:
        """Build one value.

        Raises:
            CannotBuildError: if the environment lacks a part of it.
            Exception: whatever a generator raises.
        """
        return self._builders[encoded[0]](encoded) if isinstance(encoded, list) else encoded

    def named(self, encoded: Json) -> dict[str, Any]:
        """Build the values of (name, value) pairs."""
        return {name: self.value(item) for name, item in encoded}

    def _call(self, encoded: Json) -> Any:
        _, function, arguments, keywords = encoded
        if function == CHOICE:
            return self._choice(*arguments[:3])
        if function == TENSOR:
            return tensor_of(arguments[0], arguments[1])
        if function == DTYPE:
            return dtype_of(arguments[0], arguments[1])
        if ":" in function:
            return self._generate(function, self.named(keywords))
        positional = [self.value(argument) for argument in arguments]
        return member(function)(*positional, **self.named(keywords))


def private_copy(choice: Any, module: Any) -> Any:
    """Return a copy of an object, so that no call sees another call's changes.

    An object that has a name, in the module or in the module of its class, may be compared by
    identity and is not copied. Nor are bare objects, which serve as sentinels only.
    """
    scopes = [vars(module), vars(sys.modules.get(type(choice).__module__, module))]
    if type(choice) is object or any(
        choice is item for scope in scopes for item in list(scope.values())
    ):
        return choice
    try:
        return copy.deepcopy(choice)
    except Exception:  # noqa: BLE001 - a class may raise anything when copied; then the object is shared
        return choice


def member(path: str) -> Any:
    """Return the object with a dotted name.

    Raises:
        CannotBuildError: if there is no such object.
    """
    parts = path.split(".")
    for depth in range(len(parts) - 1, 0, -1):
        try:
            item: Any = importlib.import_module(".".join(parts[:depth]))
        except ImportError:
            continue
        for part in parts[depth:]:
            item = getattr(item, part, _MISSING)
        if item is not _MISSING:
            return item
    msg = f"there is no {path}"
    raise CannotBuildError(msg)


_MISSING = object()


def array_of(encoded: Json) -> Any:
    """Return the numpy array of an encoded value `["a", dtype, shape, fill]`."""
    try:
        from ciguard.execution.worker.fills import elements
    except ImportError as error:
        msg = f"arrays need numpy: {error}"
        raise CannotBuildError(msg) from error
    _, dtype, shape, fill = encoded
    return elements(fill, dtype, shape)


def tensor_of(library: str, encoded: Json) -> Any:
    """Return the tensor of a library for an encoded value."""
    known = every_library().get(library)
    if library != NUMPY and (known is None or not known.makes_arrays):
        msg = "tensors() names no library and the module imports none: write tensors(library=…)"
        raise CannotBuildError(msg)
    array, dtype = array_of(encoded), encoded[1]
    try:
        return array if known is None else known.array(array, dtype)
    except Exception as error:
        msg = f"{library} cannot make a tensor of {dtype}: {error}"
        raise CannotBuildError(msg) from error


def dtype_of(library: str, name: str) -> Any:
    """Return a dtype object of a library; numpy's if no library is given."""
    if not library or library == NUMPY:
        return member("numpy.dtype")(name)
    known = every_library().get(library)
    if known is None or not known.makes_arrays:
        msg = f"{library} has no dtypes that ciguard knows"
        raise CannotBuildError(msg)
    return member(f"{known.dtypes}.{name}")


def library_of(module: Any) -> str:
    """Return the tensor library that a module uses; empty if there is none.

    It is the first library that a name of the module leads to. Otherwise it is the only library
    that the module's imports have loaded.
    """
    known = every_library().values()
    by_root = {root: candidate for candidate in known for root in candidate.roots}
    for item in list(vars(module).values()):
        root = (getattr(item, "__name__", "") if _is_module(item) else "") or getattr(
            item, "__module__", ""
        )
        library = by_root.get(str(root).partition(".")[0])
        if library:
            return library.backend()
    loaded = [
        candidate.library
        for candidate in known
        if candidate.makes_arrays and candidate.library in sys.modules
    ]
    return loaded[0] if len(loaded) == 1 else ""


def _is_module(item: Any) -> bool:
    return type(item).__name__ == "module" or type(item) is type(sys)
