"""From the JSON form of a value to a live object, in the process that imported the user's module.

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
    """An argument that this environment cannot make; that is no fault of the function."""


class CallBuilder:
    """Builds the arguments of calls.

    Args:
        library: of tensors and dtypes that name none.
        choice: returns the object at a place: of a function, of an argument, of a number.
        generate: calls an annotated function by its name, with named arguments.
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
        self._makers: dict[str, Callable[[Json], Any]] = {
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
            CannotBuildError: if the environment lacks what it is made of.
            Exception: whatever a generator raises.
        """
        return self._makers[encoded[0]](encoded) if isinstance(encoded, list) else encoded

    def named(self, encoded: Json) -> dict[str, Any]:
        """Build named values."""
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
        made = [self.value(argument) for argument in arguments]
        return member(function)(*made, **self.named(keywords))


def own_copy(choice: Any, module: Any) -> Any:
    """Return a copy of an object, so that no call sees what another has done to it.

    What has a name, in the module or in that of its class, may be asked for by identity and stays
    itself, as do bare objects, which are good for nothing else.
    """
    named = [vars(module), vars(sys.modules.get(type(choice).__module__, module))]
    if type(choice) is object or any(choice is v for names in named for v in list(names.values())):
        return choice
    try:
        return copy.deepcopy(choice)
    except Exception:  # noqa: BLE001 - a class decides what copying raises; then it is shared
        return choice


def member(path: str) -> Any:
    """Return the object with a dotted name.

    Raises:
        CannotBuildError: if there is none.
    """
    parts = path.split(".")
    for depth in range(len(parts) - 1, 0, -1):
        try:
            found: Any = importlib.import_module(".".join(parts[:depth]))
        except ImportError:
            continue
        for part in parts[depth:]:
            found = getattr(found, part, _MISSING)
        if found is not _MISSING:
            return found
    msg = f"there is no {path}"
    raise CannotBuildError(msg)


_MISSING = object()


def array_of(encoded: Json) -> Any:
    """Return a numpy array."""
    try:
        from ciguard.execution.worker.fills import elements
    except ImportError as error:
        msg = f"arrays need numpy: {error}"
        raise CannotBuildError(msg) from error
    _, dtype, shape, fill = encoded
    return elements(fill, dtype, shape)


def tensor_of(library: str, encoded: Json) -> Any:
    """Return a tensor of a library."""
    known = every_library().get(library)
    if library != NUMPY and (known is None or not known.makes_arrays):
        msg = "tensors() of which library? The module imports none; write tensors(library=…)"
        raise CannotBuildError(msg)
    array, dtype = array_of(encoded), encoded[1]
    try:
        return array if known is None else known.array(array, dtype)
    except Exception as error:
        msg = f"{library} makes no tensor of {dtype}: {error}"
        raise CannotBuildError(msg) from error


def dtype_of(library: str, name: str) -> Any:
    """Return a dtype object of a library, of numpy where the library is none."""
    if not library or library == NUMPY:
        return member("numpy.dtype")(name)
    known = every_library().get(library)
    if known is None or not known.makes_arrays:
        msg = f"{library} has no dtypes that ciguard knows"
        raise CannotBuildError(msg)
    return member(f"{known.dtypes}.{name}")


def library_of(module: Any) -> str:
    """Return the tensor library that a module uses: the first of its own names that leads to one.

    A module that imports none of them by itself uses what its imports have loaded, if that is one.
    """
    known = every_library().values()
    by_root = {root: one for one in known for root in one.roots}
    for item in list(vars(module).values()):
        root = (getattr(item, "__name__", "") if _is_module(item) else "") or getattr(
            item, "__module__", ""
        )
        found = by_root.get(str(root).partition(".")[0])
        if found:
            return found.backend()
    there = [one.library for one in known if one.makes_arrays and one.library in sys.modules]
    return there[0] if len(there) == 1 else ""


def _is_module(item: Any) -> bool:
    return type(item).__name__ == "module" or type(item) is type(sys)
