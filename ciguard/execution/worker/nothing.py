"""The adapter of no library at all, for a worker that is only to show how it is held."""

from __future__ import annotations

from ciguard.libraries.in_target.contract import Adapter


class NoLibrary(Adapter):
    """Imports numpy, which every worker has."""

    module = "numpy"


ADAPTER = NoLibrary
