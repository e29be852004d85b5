"""Minimisation: the simplest case that still shows a bucket's defect.

From the case at hand, simpler variants are tried a few at a time in fresh workers; the simplest one
whose finding has the same fingerprint takes its place, until no variant does. What remains must
show the defect as often as a new finding must before it stands for its bucket.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from ciguard.domain.case import case_id
from ciguard.domain.findings import Confirmation
from ciguard.execution import Job
from ciguard.oracles import encode_on, is_expressible, judge
from ciguard.triage.buckets import simplicity
from ciguard.triage.confirm import Confirmer
from ciguard.triage.fingerprint import fingerprint
from ciguard.triage.reductions import reductions

if TYPE_CHECKING:
    from collections.abc import Callable

    from ciguard.domain.case import Case
    from ciguard.domain.findings import Finding
    from ciguard.domain.outcomes import Outcome
    from ciguard.execution import Dispatcher, JobResult
    from ciguard.triage.confirm import SubjectOf

_TOGETHER = 8
"""Variants that share a worker: later ones are wasted once an earlier one takes the place."""
_MAX_VARIANTS = 400
_MAX_UNDER_WAY = 2


@dataclass(slots=True)
class _MinimisationSearch:
    key: str
    best: Finding
    tried: set[str] = field(default_factory=set)
    variants: tuple[Case, ...] = ()
    """Under way."""
    outcomes: dict[str, tuple[Outcome, ...]] = field(default_factory=dict)
    is_simpler: bool = False
    wants: tuple[Case, ...] = ()
    """Cases that conform to the documentation, which are tried before simpler ones."""
    keeps: bool = False
    """The best case conforms: what takes its place must too."""


class Conforming(Protocol):
    """Says which cases conform to the documentation."""

    def breaches(self, finding: Finding) -> tuple[str, ...]:
        """Return what a finding's case breaks, where that matters."""

    def conforming(self, finding: Finding) -> list[Case]:
        """Return cases near a finding's that break nothing."""


class Minimiser:
    """Simplifies findings on a dispatcher; the caller hands it the results that are its own."""

    KEY = "minimise"

    def __init__(
        self,
        dispatcher: Dispatcher,
        *,
        repetitions: int,
        subject_of: SubjectOf,
        time_left: Callable[[], float] = lambda: math.inf,
        conformity: Conforming | None = None,
    ) -> None:
        """Make a minimiser.

        Args:
            dispatcher: runs the variants.
            repetitions: in which what remains must show.
            subject_of: says what is being tested.
            time_left: seconds until minimising ends.
            conformity: says which cases conform to the documentation, where that matters.
        """
        self._conformity = conformity
        self._dispatcher = dispatcher
        self._subject_of = subject_of
        self._confirmer = Confirmer(
            dispatcher,
            repetitions=repetitions,
            subject_of=subject_of,
            time_left=time_left,
            key=self.KEY,
        )
        self._queue: deque[_MinimisationSearch] = deque()
        self._searches: dict[str, _MinimisationSearch] = {}

    def propose(self, key: str, finding: Finding) -> None:
        """Queue the finding that stands for the bucket `key`."""
        search = _MinimisationSearch(key, finding)
        if self._conformity is not None:
            search.wants = tuple(self._conformity.conforming(finding))
            search.keeps = not self._conformity.breaches(finding)
        self._queue.append(search)

    @property
    def is_idle(self) -> bool:
        """True if nothing waits and nothing is under way."""
        return not self._queue and not self._searches and self._confirmer.is_idle

    def pump(self) -> None:
        """Start as many searches as may be under way at once."""
        while self._queue and len(self._searches) < _MAX_UNDER_WAY:
            search = self._queue.popleft()
            self._searches[search.key] = search
            self._go_on(search)
        self._confirmer.pump()

    def _go_on(self, search: _MinimisationSearch) -> None:
        subject, targets = self._subject_of(search.best), tuple(search.best.outcomes)
        left = [
            variant
            for variant in (*search.wants, *reductions(search.best.case))
            if case_id(variant) not in search.tried
            and is_expressible(variant, targets, subject)
            and not self._is_worse(search, variant)
        ]
        if not left or len(search.tried) >= _MAX_VARIANTS:
            del self._searches[search.key]
            if search.is_simpler:
                self._confirmer.propose(search.key, search.best)
            return
        search.variants = tuple(left[:_TOGETHER])
        search.outcomes = {}
        for target in targets:
            cases = tuple(encode_on(target, case, subject) for case in search.variants)
            job = Job(target, (self.KEY, search.key), cases, fresh=True, most_hangs=1)
            self._dispatcher.add(job)

    def take(self, result: JobResult) -> list[Finding]:
        """Take the result of one of this minimiser's jobs.

        Returns:
            Findings that are simpler than those proposed, and confirmed.
        """
        key = result.job.key[1]  # type: ignore[index]
        if not isinstance(key, str):
            return [
                settled.finding
                for settled in self._confirmer.take(result)
                if settled.confirmation is Confirmation.CONFIRMED
                # In between another defect of the same kind may have shown itself more often.
                and fingerprint(settled.finding).key == settled.key
            ]
        search = self._searches.get(key)
        if search is None:
            return []  # given up meanwhile
        search.outcomes[result.job.target] = result.outcomes
        if len(search.outcomes) == len(search.best.outcomes):
            self._judge(search)
            self._go_on(search)
        return []

    def _judge(self, search: _MinimisationSearch) -> None:
        shown: list[Finding] = []
        subject = self._subject_of(search.best)
        judged = zip(search.variants, *search.outcomes.values(), strict=False)
        for case, *seen in judged:  # after a hang the rest was left out
            search.tried.add(case_id(case))
            outcomes = dict(zip(search.outcomes, seen, strict=True))
            in_order = {name: outcomes[name] for name in search.best.outcomes}
            shown += [
                finding
                for finding in judge(case, in_order, subject)
                if fingerprint(finding).key == search.key
            ]
        if shown:
            wanted = [finding for finding in shown if finding.case in search.wants]
            search.best = min(wanted or shown, key=lambda finding: simplicity(finding.case))
            search.is_simpler = True
            if wanted:
                search.wants, search.keeps = (), True

    def _is_worse(self, search: _MinimisationSearch, variant: Case) -> bool:
        """Return whether a variant breaks the documentation where the best case does not."""
        if self._conformity is None or not search.keeps:
            return False
        return bool(self._conformity.breaches(replace(search.best, case=variant)))

    def abandon(self, target: str = "") -> None:
        """Give up what is not settled.

        Args:
            target: give up only what needs this target; empty for everything.
        """
        self._queue = deque(s for s in self._queue if target and target not in s.best.outcomes)
        self._searches = {
            key: search
            for key, search in self._searches.items()
            if target and target not in search.best.outcomes
        }
        self._confirmer.abandon(target)
