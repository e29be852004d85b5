"""Mutation of a tensor's storage form: replaces a dense tensor by one in another form."""

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
    """Return the storage forms of a library's tensors besides the dense form; may be empty."""
    library = library_of_api(module)
    return library.forms if library is not None else ()


def form_mutator(module: str) -> Mutator | None:
    """Return the mutator that changes a tensor's storage form; None if there are no other forms."""
    forms = forms_of(module)
    return partial(_with_other_form, forms=forms) if forms else None


def _with_other_form(
    rng: random.Random, scope: SamplingScope, current: Value, *, forms: tuple[TensorForm, ...]
) -> Value:
    """Return the tensor in one of the forms that fit it, or unchanged if none fits.

    A value that is not a tensor is also returned unchanged.
    """
    del scope
    if not isinstance(current, TensorValue):
        return current
    fitting_forms = [form for form in forms if form.fits(current)]
    return (
        fitting_forms[int(rng.random() * len(fitting_forms))].make(current)
        if fitting_forms
        else current
    )
