"""The registry of libraries, with lookups by distribution and by API."""

from __future__ import annotations

from ciguard.libraries.jax.description import LIBRARY as JAX
from ciguard.libraries.jittor.description import LIBRARY as JITTOR
from ciguard.libraries.keras.description import LIBRARY as KERAS
from ciguard.libraries.library import Library
from ciguard.libraries.services.description import CLIENTS
from ciguard.libraries.tensorflow.description import LIBRARY as TENSORFLOW
from ciguard.libraries.torch.description import LIBRARY as TORCH
from ciguard.registry import Registry

LIBRARIES: Registry[Library] = Registry(
    "library", group="ciguard.libraries", accepts=lambda item: isinstance(item, Library)
)
"""All registered libraries, by name."""

for _library in (TORCH, TENSORFLOW, JITTOR, KERAS, JAX, *CLIENTS):
    LIBRARIES.register(_library.name, _library)


def library_of_distribution(distribution: str) -> Library | None:
    """Return the registered library that a distribution provides; None if it provides none."""
    for library in LIBRARIES.items().values():
        if library.provides(distribution):
            return library
    return None


def library_of_api(api: str) -> Library | None:
    """Return the registered library of an API with a qualified name; None if there is none."""
    module = api.partition(".")[0]
    for library in LIBRARIES.items().values():
        if library.has_api and library.module == module:
            return library
    return None
