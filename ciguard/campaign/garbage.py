"""Collection of garbage in cycles, which takes a fifth of the orchestrator's time by default."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_THRESHOLDS = (50_000, 20, 20)
"""Thresholds of `gc.set_threshold`: 50,000 new objects take a few MiB."""


@contextmanager
def collected_rarely() -> Iterator[None]:
    """Search for cycles rarely until the context is left.

    A campaign makes millions of cases and outcomes, none of them in a cycle, beside catalogues with
    hundreds of thousands of objects, all of which each full collection visits.
    """
    thresholds = gc.get_threshold()
    gc.set_threshold(*_THRESHOLDS)
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
