"""Registries of named extensions: built-in ones, and those from entry points of other packages."""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points
from types import MappingProxyType
from typing import TYPE_CHECKING, Generic, TypeVar

from ciguard.errors import RegistrationError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

T = TypeVar("T")


class Registry(Generic[T]):
    """Items of one kind by unique name."""

    def __init__(
        self,
        kind: str,
        *,
        group: str,
        accepts: Callable[[object], bool],
        built_in: Mapping[str, str] | None = None,
        first: Callable[[], object] | None = None,
    ) -> None:
        """Create a registry.

        Args:
            kind: name of the kind of items, in messages.
            group: group of the entry points of other packages.
            accepts: whether an item implements the interface.
            built_in: `module:object` of built-in items by name, imported when first needed.
            first: a function that registers further items, called before entry points are loaded.
        """
        self._kind = kind
        self._group = group
        self._accepts = accepts
        self._items: dict[str, T] = {}
        self._unloaded = dict(built_in or {})
        self._built_in_names = tuple(self._unloaded)
        self._load_first = first
        self._are_entry_points_loaded = False

    def register(self, name: str, item: T) -> T:
        """Register an item.

        Raises:
            RegistrationError: if the name is taken, or the item does not implement the interface.
        """
        if not self._accepts(item):
            msg = f"{self._kind} {name!r} ({item!r}) does not implement the interface {self._group}"
            raise RegistrationError(msg)
        if name in self._items or name in self._unloaded:
            msg = f"{self._kind} {name!r} is registered twice; rename one of the two"
            raise RegistrationError(msg)
        self._items[name] = item
        return item

    def get(self, name: str) -> T:
        """Return the item of that name.

        Raises:
            UnknownNameError: if there is none; the message has the closest match.
        """
        if name in self._unloaded:
            self._load([EntryPoint(name, self._unloaded.pop(name), self._group)])
        if name not in self._items:
            self._load_entry_points()
        if name not in self._items:
            raise UnknownNameError(self._kind, name, known=(*self._items, *self._unloaded))
        return self._items[name]

    def items(self) -> Mapping[str, T]:
        """Return a view of all items by name, built-in ones first."""
        if self._unloaded or not self._are_entry_points_loaded:
            for name in tuple(self._unloaded):
                self.get(name)
            self._load_entry_points()
            self._items = {name: self._items[name] for name in self.names()}
        return MappingProxyType(self._items)

    def names(self) -> list[str]:
        """Return the names of the built-in items, then those of other loaded items."""
        return list(dict.fromkeys((*self._built_in_names, *self._items)))

    def _load_entry_points(self) -> None:
        if self._are_entry_points_loaded:
            return
        self._are_entry_points_loaded = True
        if self._load_first is not None:
            self._load_first()
        self._load(entry_points(group=self._group))

    def _load(self, entries: Iterable[EntryPoint]) -> None:
        for entry in entries:
            try:
                item = entry.load()
            except (ImportError, AttributeError) as error:
                msg = f"entry point {entry.name!r} of {self._group} cannot be loaded: {error}"
                raise RegistrationError(msg) from error
            self.register(entry.name, item)
