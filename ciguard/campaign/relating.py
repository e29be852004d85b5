"""Which calls of a batch are tried with a metamorphic relation, and with which."""

from __future__ import annotations

from dataclasses import replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from ciguard.domain import Intent
from ciguard.oracles import has_special_elements, relations_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ciguard.campaign.group import Group
    from ciguard.domain import ApiCall
    from ciguard.levels import Batch
    from ciguard.oracles import Relation

_ONE_IN = 2
"""Of the conforming calls: a twin costs as much as the call, and the pair is not compared across
targets."""


class Relating:
    """Gives relations to the calls of a batch, each of an API's in turn."""

    def __init__(self, group: Group, globs: Sequence[str] = ("*",)) -> None:
        """Choose among the relations whose names match one of these globs."""
        self._group = group
        self._globs = tuple(globs)
        self._names = frozenset(record.api for record in group.records())
        self._of: dict[str, tuple[Relation, ...]] = {}

    def related(self, batch: Batch, index: int) -> Batch:
        """Return the batch of that index with relations: the same for the same index."""
        known = self._relations(batch.api)
        if not known:
            return batch
        start = index * len(batch.cases)
        cases = tuple(_with_one(case, known, start + n) for n, case in enumerate(batch.cases))
        return replace(batch, cases=cases)

    def _relations(self, api: str) -> tuple[Relation, ...]:
        found = self._of.get(api)
        if found is None:
            record = self._group.record(api)
            every = () if record is None else relations_of(record, self._names)
            found = tuple(r for r in every if any(fnmatchcase(r.name, g) for g in self._globs))
            self._of[api] = found
        return found


def _with_one(case: ApiCall, known: tuple[Relation, ...], number: int) -> ApiCall:
    is_due = case.seed % _ONE_IN == 0
    if not is_due or case.intent is not Intent.CONFORMING or has_special_elements(case):
        return case
    for turn in range(len(known)):
        relation = known[(number + turn) % len(known)]
        if (number // len(known)) % relation.every:
            continue  # not its turn: it costs more than others
        if relation.twin(case) is not None:
            return replace(case, relation=relation.name)
    return case
