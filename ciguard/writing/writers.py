"""Templates for tensors in scripts: those of a library, or generic ones for numpy arrays."""

from __future__ import annotations

from ciguard.libraries import LIBRARIES, Writer

PLAIN_DTYPES = frozenset(
    {"bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"}
)
"""Dtypes for which every library can fill a tensor with one value."""


def writer_of(library: str, *, module: str = "") -> Writer:
    """Return the templates of a library, or generic ones with numpy arrays as tensors.

    Args:
        library: name of the library.
        module: name of the module to import, if it differs from the library's name.
    """
    registered = LIBRARIES.items().get(library)
    return (registered and registered.script) or _generic_writer(module or library)


def _generic_writer(module: str) -> Writer:
    """Return templates with numpy arrays as tensors, for a library without its own templates."""
    return Writer(
        imports=(f"import {module}", "import numpy as np"),
        literal='np.array({data}, dtype="{stored}")',
        full='np.full({shape}, {value}, dtype="{stored}")',
        zeros='np.zeros({shape}, dtype="{stored}")',
        from_array="{array}",
        is_tensor='hasattr(value, "dtype") and hasattr(value, "shape")',
        read=("str(value.dtype)", "np.asarray(value).ravel().tolist()"),
    )
