"""Mutation of a tensor's storage form: replaces a dense tensor by one in another form."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ciguard.domain.values import CallValue, TensorValue
from ciguard.libraries import TensorForm, library_of_api

if TYPE_CHECKING:
    import random

    from ciguard.domain.values import Value
    from ciguard.values import Mutator, SamplingScope


def forms_of(module: str, *, of_operands: bool = False) -> tuple[TensorForm, ...]:
    """Return the storage forms of a library's tensors besides the dense form; may be empty.

    Args:
        module: the library's module.
        of_operands: whether to leave out those that operators do not take.
    """
    library = library_of_api(module)
    forms = library.forms if library is not None else ()
    return tuple(form for form in forms if not (of_operands and form.is_composite))


def form_mutator(module: str, *, of_operands: bool = False) -> Mutator | None:
    """Return the mutator that changes a tensor's storage form; None if there are no other forms."""
    forms = forms_of(module, of_operands=of_operands)
    return partial(_with_other_form, forms=forms) if forms else None


def _with_other_form(
    rng: random.Random, scope: SamplingScope, current: Value, *, forms: tuple[TensorForm, ...]
) -> Value:
    """Return a dense tensor in another form, or a tensor in another form with malformed contents.

    A value that is not a tensor is returned unchanged, and a tensor if no form fits it.
    """
    del scope
    match current:
        case TensorValue():
            tensor, function = current, ""
        case CallValue(function, (TensorValue() as tensor, *_)):
            pass
        case _:
            return current
    fitting = [form for form in forms if form.instead_of == function and form.fits(tensor)]
    return fitting[int(rng.random() * len(fitting))].make(tensor) if fitting else current
