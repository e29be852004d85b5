"""Adapter without a library, for a worker that only checks its confinement."""

from __future__ import annotations

from ciguard.libraries.in_target.contract import Adapter


class NoLibrary(Adapter):
    """Adapter that imports only numpy, which every worker has."""

    module = "numpy"


ADAPTER = NoLibrary
