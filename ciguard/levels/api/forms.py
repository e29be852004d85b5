"""Arguments of another form: the same tensor kept as its library can, beside densely."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ciguard.domain.values import TensorValue
from ciguard.libraries import TensorForm, library_of_api

if TYPE_CHECKING:
    import random

    from ciguard.domain.values import Value
    from ciguard.values import Mutator, SamplingScope


def forms_of(module: str) -> tuple[TensorForm, ...]:
    """Return the forms of the tensors of a module's library; most keep them in one way only."""
    known = library_of_api(module)
    return known.forms if known is not None else ()


def reforming(module: str) -> Mutator | None:
    """Return what gives a tensor another form; None for a library that has only one."""
    forms = forms_of(module)
    return partial(_reformed, forms=forms) if forms else None


def _reformed(
    rng: random.Random, scope: SamplingScope, current: Value, *, forms: tuple[TensorForm, ...]
) -> Value:
    del scope
    if not isinstance(current, TensorValue):
        return current
    fitting = [form for form in forms if form.fits(current)]
    return fitting[int(rng.random() * len(fitting))].make(current) if fitting else current
