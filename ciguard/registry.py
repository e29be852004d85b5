"""A registry of named extensions: built in, or found through entry points of other packages."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Generic, TypeVar

from ciguard.errors import RegistrationError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


class Registry(Generic[T]):
    """Items of one kind by name. A second item of the same name is refused."""

    def __init__(self, kind: str, *, group: str, accepts: Callable[[object], bool]) -> None:
        self._kind = kind
        self._group = group
        self._accepts = accepts
        self._items: dict[str, T] = {}
        self._loaded = False

    def register(self, name: str, item: T) -> T:
        """Add an item.

        Raises:
            RegistrationError: if the name is taken, or the item does not fulfil the contract.
        """
        if not self._accepts(item):
            msg = f"{self._kind} {name!r} ({item!r}) does not fulfil the contract of {self._group}"
            raise RegistrationError(msg)
        if name in self._items:
            msg = f"{self._kind} {name!r} is registered twice; rename one of the two"
            raise RegistrationError(msg)
        self._items[name] = item
        return item

    def get(self, name: str) -> T:
        """Return the item of that name.

        Raises:
            UnknownNameError: if there is none, with the closest match.
        """
        self._load_entry_points()
        if name not in self._items:
            raise UnknownNameError(self._kind, name, known=self._items)
        return self._items[name]

    def items(self) -> dict[str, T]:
        """Return all items by name, those of other packages included."""
        self._load_entry_points()
        return dict(self._items)

    def _load_entry_points(self) -> None:
        if self._loaded:
            return
        self._loaded = True
        for entry in entry_points(group=self._group):
            try:
                item = entry.load()
            except (ImportError, AttributeError) as error:
                msg = f"entry point {entry.name!r} of {self._group} cannot be loaded: {error}"
                raise RegistrationError(msg) from error
            self.register(entry.name, item)
