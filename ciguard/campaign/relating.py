"""Choice of the calls of a batch that are tested with a metamorphic relation."""

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

_RELATION_INTERVAL = 4
"""One in this number of conforming calls gets a relation.

The related call costs at least as much as the call, and the pair is not compared across targets."""
_RELATED_INTENTS = frozenset({Intent.CONFORMING, Intent.SPECIAL})
_PICKS = 1 << 10
"""Range of random picks, which exceeds the sum of the weights of all relations."""


class RelationChooser:
    """Assigns to calls of a batch one of the relations that apply to them."""

    def __init__(self, group: Group, globs: Sequence[str] = ("*",)) -> None:
        """Use the relations whose names match one of these globs."""
        self._group = group
        self._globs = tuple(globs)
        self._names = frozenset(record.api for record in group.records())
        self._by_api: dict[str, tuple[Relation, ...]] = {}

    def related(self, batch: Batch) -> Batch:
        """Return the batch with relations, which are always the same for the same batch."""
        relations = self._relations(batch.api)
        if not relations:
            return batch
        calls = map(as_call, batch.cases)
        return replace(batch, cases=tuple([_with_relation(call, relations) for call in calls]))

    def _relations(self, api: str) -> tuple[Relation, ...]:
        relations = self._by_api.get(api)
        if relations is None:
            record = self._group.record(api)
            candidates = () if record is None else relations_of(record, self._names)
            relations = tuple(
                relation
                for relation in candidates
                if any(fnmatchcase(relation.name, glob) for glob in self._globs)
            )
            self._by_api[api] = relations
        return relations


def _with_relation(case: ApiCall, relations: tuple[Relation, ...]) -> ApiCall:
    """Return the call with a relation or unchanged, as its seed decides."""
    number, remainder = divmod(case.seed, _RELATION_INTERVAL)
    if remainder or case.intent not in _RELATED_INTENTS:
        return case
    is_special = case.intent is Intent.SPECIAL or has_special_elements(case)
    round_index, pick = divmod(number, _PICKS)
    applicable = [
        relation
        for relation in relations
        if round_index % relation.every == 0
        and (relation.holds_for_special_elements or not is_special)
        and relation.twin(case) is not None
    ]
    if not applicable:
        return case
    weights = list(accumulate(relation.weight for relation in applicable))
    chosen = applicable[bisect(weights, pick % weights[-1])]
    return replace(case, relation=chosen.name)
