"""Builds objects from the JSON form of values, in the process that imports the user's module.

Runs in a target's interpreter: standard library only, Python 3.9 and later. Numpy and the libraries
are imported only if a value needs them.
"""

from __future__ import annotations

import copy
import importlib
import sys
from typing import Any, Callable

from ciguard.functions.in_target.describing.encoding import CHOICE, DTYPE, TENSOR
from ciguard.libraries.in_target.arrays import arrays_by_library

Json = Any

NUMPY = "numpy"


class CannotBuildError(Exception):
    """Error for an argument that this environment cannot build; the function is not defective."""


class CallBuilder:
    """Builds the arguments of calls.

    Args:
        library: name of the library of tensors and dtypes for which values name none.
        choice: returns an object that has no JSON form, by the names of the function and the
            argument and by its index.
        generate: calls the annotated function with a name, with named arguments.
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
            "l": lambda encoded: [self.build(item) for item in encoded[1]],  # list
            "p": lambda encoded: tuple([self.build(item) for item in encoded[1]]),  # tuple
            "d": lambda encoded: self.build_named(encoded[1]),  # dictionary
            "f": lambda encoded: float(encoded[1]),  # number that JSON lacks, such as NaN
            "z": lambda encoded: complex(float(encoded[1]), float(encoded[2])),  # complex number
            "b": lambda encoded: encoded[1].encode("latin-1"),  # bytes
            "a": array_of,  # numpy array
            "t": lambda encoded: tensor_of(self._library, encoded),  # tensor
            "y": lambda encoded: dtype_of(self._library, encoded[1]),  # dtype
            "m": lambda encoded: member(encoded[1]),  # member of a module, by its path
            "c": self._call,  # return value of a call
        }
        """Builders by the first item of a value's JSON form (`domain.values.value_to_json`)."""

    def build(self, encoded: Json) -> Any:
        """Return the object for one value's JSON form.

        Raises:
            CannotBuildError: if this environment cannot build a part of the value.
            Exception: any exception that a generator raises.
        """
        return self._builders[encoded[0]](encoded) if isinstance(encoded, list) else encoded

    def build_named(self, encoded: Json) -> dict[str, Any]:
        """Return the objects by name, for a list of pairs of a name and a value's JSON form."""
        return {name: self.build(item) for name, item in encoded}

    def _call(self, encoded: Json) -> Any:
        """Build the value of an encoded call `["c", function, arguments, keywords]`."""
        _, function, arguments, keywords = encoded
        if function == CHOICE:
            return self._choice(*arguments[:3])
        if function == TENSOR:
            return tensor_of(arguments[0], arguments[1])
        if function == DTYPE:
            return dtype_of(arguments[0], arguments[1])
        if ":" in function:
            return self._generate(function, self.build_named(keywords))
        positional = [self.build(argument) for argument in arguments]
        return member(function)(*positional, **self.build_named(keywords))


def private_copy(choice: Any, module: Any) -> Any:
    """Return a copy of an object, so that no call sees the changes by another call.

    An object that has a name, in the module or in the module of its class, is not copied, because
    the program may compare it by identity. An instance of `object` is a sentinel and not copied.
    """
    scopes = [vars(module), vars(sys.modules.get(type(choice).__module__, module))]
    if type(choice) is object or any(
        choice is item for scope in scopes for item in list(scope.values())
    ):
        return choice
    try:
        return copy.deepcopy(choice)
    except Exception:  # noqa: BLE001 - a class may raise anything; the object is then shared
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
    msg = f"{path} does not exist in this environment"
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
    """Return the tensor for an encoded value.

    Args:
        library: name of the library.
        encoded: JSON form of the tensor or array.

    Raises:
        CannotBuildError: if the library is unknown, or cannot make the tensor.
    """
    known = arrays_by_library().get(library)
    if library != NUMPY and (known is None or not known.makes_arrays):
        msg = "tensors() names no library, and the module imports none; use tensors(library=…)"
        raise CannotBuildError(msg)
    array, dtype = array_of(encoded), encoded[1]
    try:
        return array if known is None else known.array(array, dtype)
    except Exception as error:
        msg = f"{library} cannot make a tensor of {dtype}: {error}"
        raise CannotBuildError(msg) from error


def dtype_of(library: str, name: str) -> Any:
    """Return a dtype object of a library, or of numpy if `library` is empty.

    Raises:
        CannotBuildError: if the library has no dtypes.
    """
    if not library or library == NUMPY:
        return member("numpy.dtype")(name)
    known = arrays_by_library().get(library)
    if known is None or not known.makes_arrays:
        msg = f"ciguard does not support the dtypes of {library}"
        raise CannotBuildError(msg)
    return member(f"{known.dtypes}.{name}")


def library_of(module: Any) -> str:
    """Return the name of the tensor library that a module uses; empty if it uses none.

    The first name in the module that belongs to a library decides. If there is no such name, it is
    the only library that is imported in this process.
    """
    known = arrays_by_library().values()
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
