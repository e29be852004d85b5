"""Composition of graphs: each call uses results of earlier calls where their tensors fit."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ciguard.domain.api_calls import ApiCall
from ciguard.domain.values import ResultValue
from ciguard.levels.graph.indexing import indexed
from ciguard.levels.graph.reshaping import changes_in_place
from ciguard.levels.graph.samples import (
    key_of,
    linked,
    resized_tensor,
    size_changes,
    slots_of_call,
)
from ciguard.levels.graph.store import fitted

if TYPE_CHECKING:
    import random

    from ciguard.domain.graphs import Step
    from ciguard.domain.values import TensorValue
    from ciguard.levels.graph.samples import Sample
    from ciguard.levels.graph.store import SampleStore, SampleUse
    from ciguard.libraries import Subscripts

_RECENT_SHARE = 0.6
"""Share of the calls that use the result of the latest call, so that graphs become deep."""
_SECOND_SHARE = 0.5
"""Probability that a further tensor of a call is an earlier result of the same form."""
_INPUT_SHARE = 0.4
"""Probability that a tensor of the first call is an input that later calls can use, too."""
_CHOICE_SHARE = 0.3
"""Share of the calls that use another result if the tensors are larger."""
_INDEX_SHARE = 0.1
"""Share of the steps that index a result, or assign to its elements."""
_ATTEMPTS = 4


@dataclass(slots=True)
class _Draft:
    """A graph in the making."""

    steps: list[Step] = field(default_factory=list)
    results: list[tuple[ResultValue, str]] = field(default_factory=list)
    """Results that later steps can use, each with the API that returns it."""

    def add(self, step: Step, forms: tuple[TensorValue, ...], *, is_sequence: bool = False) -> None:
        """Append a step with tensors like its results, which are in a sequence or one tensor."""
        number = len(self.steps)
        self.steps.append(step)
        api = step.api if isinstance(step, ApiCall) else ""
        self.results += [
            (ResultValue(number, item if is_sequence else -1, form), api)
            for item, form in enumerate(forms)
        ]

    def drawn_result(self, rng: random.Random) -> tuple[ResultValue, str]:
        """Return a result for the next step, mostly the latest, and the API that returns it."""
        return self.results[-1] if rng.random() < _RECENT_SHARE else rng.choice(self.results)


def compose(
    rng: random.Random,
    store: SampleStore,
    *,
    calls: int,
    grows: bool = False,
    subscripts: Subscripts | None = None,
) -> tuple[Step, ...]:
    """Return a graph of at most this number of calls; empty if there are no samples.

    Whether each call accepts its arguments is certain only if no sizes were changed; a run of the
    graph decides.

    Args:
        rng: source of random numbers.
        store: the samples.
        calls: maximum number of calls.
        grows: true to choose some results by their sizes, since a second run has larger ones.
        subscripts: the library's methods for indexing; None to index nothing.
    """
    first = store.first(rng)
    if first is None:
        return ()
    draft = _Draft()
    _add_first(rng, draft, first)
    for _ in range(calls - 1):
        if subscripts is not None and rng.random() < _INDEX_SHARE:
            _add_indexing(rng, draft, subscripts)
        else:
            _add_next(rng, draft, store, choice_share=_CHOICE_SHARE if grows else 0.0)
    return tuple(draft.steps)


def _add_first(rng: random.Random, draft: _Draft, sample: Sample) -> None:
    links = {}
    for position, tensor in slots_of_call(sample.call):
        if rng.random() < _INPUT_SHARE:
            draft.add(tensor, (tensor,))
            links[position] = draft.results[-1][0]
    draft.add(linked(sample.call, links), sample.results, is_sequence=sample.is_sequence)


def _add_indexing(rng: random.Random, draft: _Draft, subscripts: Subscripts) -> None:
    """Append a step that indexes a result; nothing if no index was found."""
    result, _ = draft.drawn_result(rng)
    found = indexed(rng, result, subscripts)
    if found is not None:
        step, form = found
        draft.add(step, (form,))


def _add_next(
    rng: random.Random, draft: _Draft, store: SampleStore, *, choice_share: float
) -> None:
    """Append a call that uses an earlier result; nothing if no call is found."""
    for _ in range(_ATTEMPTS):
        result, producer = draft.drawn_result(rng)
        use = store.user_of(result.form, producer, rng)
        call = fitted(use, result.form) if use is not None else None
        if use is None or call is None or (use.position and changes_in_place(call)):
            continue
        links = {use.position: result, **_further_links(rng, draft, call, use.position)}
        if rng.random() < choice_share:
            links[use.position] = _choice(rng, draft, result)
        forms = _expected_results(use, result.form)
        draft.add(linked(call, links), forms, is_sequence=use.sample.is_sequence)
        return


def _choice(rng: random.Random, draft: _Draft, result: ResultValue) -> ResultValue:
    """Return a result that larger tensors replace by another one of the same form, if there is one.

    A tensor with one element along the first axis does not grow along it.
    """
    size = result.form.shape[0] if result.form.shape else 0
    others = [other for other, _ in draft.results if key_of(other.form) == key_of(result.form)]
    others = [other for other in others if other.step != result.step]
    if size <= 1 or not others:
        return result
    return replace(result, other=rng.choice(others), beyond=size)


def _expected_results(use: SampleUse, tensor: TensorValue) -> tuple[TensorValue, ...]:
    """Return tensors like the results of a sample's call, if it gets a tensor of other sizes."""
    slot = dict(slots_of_call(use.sample.call))[use.position]
    sizes = size_changes(slot.shape, tensor.shape)
    if sizes is None:
        return use.sample.results
    return tuple(resized_tensor(form, sizes) for form in use.sample.results)


def _further_links(
    rng: random.Random, draft: _Draft, call: ApiCall, position: int
) -> dict[int, ResultValue]:
    """Return results for other tensors of a call.

    A call in place gets none: what it computes is undefined if they share memory with the first.
    """
    links: dict[int, ResultValue] = {}
    if changes_in_place(call):
        return links
    for other, tensor in slots_of_call(call):
        if other == position or rng.random() >= _SECOND_SHARE:
            continue
        fitting = [result for result, _ in draft.results if key_of(result.form) == key_of(tensor)]
        if fitting:
            links[other] = rng.choice(fitting)
    return links
