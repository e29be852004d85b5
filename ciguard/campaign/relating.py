"""Which calls of a batch are tried with a metamorphic relation, and with which."""

from __future__ import annotations

from bisect import bisect
from dataclasses import replace
from fnmatch import fnmatchcase
from itertools import accumulate
from typing import TYPE_CHECKING

from ciguard.domain.api_calls import as_call
from ciguard.domain.intent import Intent
from ciguard.oracles.comparing import has_special_elements
from ciguard.oracles.relations import relations_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ciguard.campaign.group import Group
    from ciguard.domain.api_calls import ApiCall
    from ciguard.levels import Batch
    from ciguard.oracles.relations import Relation

_ONE_IN = 4
"""Of the conforming calls: a twin costs as much as the call or more, the pair is not compared
across targets, and what kills a library comes first."""
_PICKS = 1 << 10
"""More than the weights of all relations together."""


class Relating:
    """Gives relations to the calls of a batch: one of those that say something of a call."""

    def __init__(self, group: Group, globs: Sequence[str] = ("*",)) -> None:
        """Choose among the relations whose names match one of these globs."""
        self._group = group
        self._globs = tuple(globs)
        self._names = frozenset(record.api for record in group.records())
        self._of: dict[str, tuple[Relation, ...]] = {}

    def related(self, batch: Batch) -> Batch:
        """Return the batch with relations: the same for the same batch."""
        known = self._relations(batch.api)
        if not known:
            return batch
        calls = map(as_call, batch.cases)
        return replace(batch, cases=tuple([_with_one(call, known) for call in calls]))

    def _relations(self, api: str) -> tuple[Relation, ...]:
        found = self._of.get(api)
        if found is None:
            record = self._group.record(api)
            every = () if record is None else relations_of(record, self._names)
            found = tuple(r for r in every if any(fnmatchcase(r.name, g) for g in self._globs))
            self._of[api] = found
        return found


def _with_one(case: ApiCall, known: tuple[Relation, ...]) -> ApiCall:
    """Return the call with a relation, or alone. The call's own seed is the dice."""
    dice, is_not_due = divmod(case.seed, _ONE_IN)
    if is_not_due or case.intent is not Intent.CONFORMING or has_special_elements(case):
        return case
    turn, pick = divmod(dice, _PICKS)
    fit = [r for r in known if turn % r.every == 0 and r.twin(case) is not None]
    if not fit:
        return case
    weights = list(accumulate(relation.weight for relation in fit))
    chosen = fit[bisect(weights, pick % weights[-1])]
    return replace(case, relation=chosen.name)
