"""Invalid memory accesses, as the memory guard reports them in the log of a crashed process."""

from __future__ import annotations

import re
from dataclasses import dataclass

OUT_OF_BOUNDS_READ = "out-of-bounds read"
OUT_OF_BOUNDS_WRITE = "out-of-bounds write"
USE_AFTER_FREE = "use after free"
MEMORY_ERRORS = frozenset({OUT_OF_BOUNDS_READ, OUT_OF_BOUNDS_WRITE, USE_AFTER_FREE})
"""Causes of a crash that the memory guard reports, as in `Crashed.cause`."""

_LINE = re.compile(
    r"^memory guard: (?P<cause>out-of-bounds (?:read|write)|use after free): "
    r"(?P<distance>\d{1,20}) bytes (?P<side>behind|before|into) "
    r"(?:a block|(?P<role>[^\n(]{1,40}?)(?: \((?P<type>[^\n]{0,40}?)\))?), "
    r"(?P<size>\d{1,20}) bytes$",
    re.MULTILINE,
)
_VERBS = {
    OUT_OF_BOUNDS_READ: "reads",
    OUT_OF_BOUNDS_WRITE: "writes",
    USE_AFTER_FREE: "uses freed memory,",
}
_POSITION = re.compile(r"(?P<kind>argument|input) (?P<number>\d{1,3})")


@dataclass(frozen=True, slots=True, kw_only=True)
class InvalidAccess:
    """One invalid access to memory."""

    cause: str
    """One of `MEMORY_ERRORS`."""
    distance: int
    """Number of bytes between the block and the access; from the block's begin for freed memory."""
    side: str
    """`behind` or `before` the block, or `into` it."""
    role: str
    """Argument that owns the block: `argument 2`, `input 1` or a keyword; empty for others."""
    type_text: str
    """Dtype and shape of the argument, e.g. `int64[2, 16]`; empty for other blocks."""
    size: int
    """Size of the block, in bytes."""

    def owner(self, arguments: tuple[str, ...] = (), inputs: tuple[str, ...] = ()) -> str:
        """Return the name of the parameter that owns the block; empty for other blocks.

        Args:
            arguments: names of the parameters of the call, in order.
            inputs: names of the parameters of a layer's call, in order.
        """
        match = _POSITION.fullmatch(self.role)
        if match is None:
            return self.role
        names = arguments if match["kind"] == "argument" else inputs
        number = int(match["number"])
        return names[number - 1] if number <= len(names) else self.role

    def in_words(self, owner: str) -> str:
        """Return a predicate of the call, e.g. `reads 8 bytes behind the end of x (int8[2])`."""
        what = f"{owner} ({self.type_text})" if owner and self.type_text else owner
        block = what or f"an intermediate block of {self.size:,} bytes"
        verb = _VERBS[self.cause]
        if self.side == "into":
            return f"{verb} {self.distance:,} bytes after the begin of {block}"
        edge = "the end" if self.side == "behind" else "the begin"
        distance = f"{self.distance:,} bytes" if self.distance else "right"
        return f"{verb} {distance} {self.side} {edge} of {block}"


def invalid_access(log: str) -> InvalidAccess | None:
    """Return the access that the last report in a log describes; None if there is no report."""
    matches = list(_LINE.finditer(log))
    if not matches:
        return None
    match = matches[-1]
    return InvalidAccess(
        cause=match["cause"],
        distance=int(match["distance"]),
        side=match["side"],
        role=match["role"] or "",
        type_text=match["type"] or "",
        size=int(match["size"]),
    )
