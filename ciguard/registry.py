"""A registry of named extensions: built in, or found through entry points of other packages."""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Generic, TypeVar

from ciguard.errors import RegistrationError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

T = TypeVar("T")


class Registry(Generic[T]):
    """Items of one kind by name. A second item of the same name is refused."""

    def __init__(
        self,
        kind: str,
        *,
        group: str,
        accepts: Callable[[object], bool],
        built_in: Mapping[str, str] | None = None,
        first: Callable[[], object] | None = None,
    ) -> None:
        """Make a registry.

        Args:
            kind: what the items are, in messages.
            group: of the entry points of other packages.
            accepts: whether an item fulfils the contract.
            built_in: `module:object` of ciguard's own items by name, imported when first needed.
            first: loads what registers items of its own, before other packages are asked.
        """
        self._kind = kind
        self._group = group
        self._accepts = accepts
        self._items: dict[str, T] = {}
        self._waiting = dict(built_in or {})
        self._first = tuple(self._waiting)
        self._load_first = first
        self._loaded = False

    def register(self, name: str, item: T) -> T:
        """Add an item.

        Raises:
            RegistrationError: if the name is taken, or the item does not fulfil the contract.
        """
        if not self._accepts(item):
            msg = f"{self._kind} {name!r} ({item!r}) does not fulfil the contract of {self._group}"
            raise RegistrationError(msg)
        if name in self._items or name in self._waiting:
            msg = f"{self._kind} {name!r} is registered twice; rename one of the two"
            raise RegistrationError(msg)
        self._items[name] = item
        return item

    def get(self, name: str) -> T:
        """Return the item of that name.

        Raises:
            UnknownNameError: if there is none, with the closest match.
        """
        if name in self._waiting:
            self._load([EntryPoint(name, self._waiting.pop(name), self._group)])
        if name not in self._items:
            self._load_entry_points()
        if name not in self._items:
            raise UnknownNameError(self._kind, name, known=(*self._items, *self._waiting))
        return self._items[name]

    def items(self) -> dict[str, T]:
        """Return all items by name: the built-in ones first, those of other packages last."""
        for name in tuple(self._waiting):
            self.get(name)
        self._load_entry_points()
        return {name: self._items[name] for name in self.names()}

    def names(self) -> list[str]:
        """Return the names of the built-in items, then those of others that were met so far."""
        return list(dict.fromkeys((*self._first, *self._items)))

    def _load_entry_points(self) -> None:
        if self._loaded:
            return
        self._loaded = True
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
