"""Minimisation: the search for the simplest case that still shows a bucket's defect.

Simpler variants of the current case run in fresh workers, a few at a time. The simplest variant
whose finding has the same fingerprint becomes the current case. The search ends when no variant
has that fingerprint. The result is then confirmed like a new finding before it represents its
bucket.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from ciguard.domain.case import case_id
from ciguard.domain.findings import Confirmation
from ciguard.execution import Job, Priority
from ciguard.oracles import encode_for_target, is_expressible, judge, traits_of
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
    from ciguard.triage.confirm import SubjectLookup

_GROUP_SIZE = 8
"""Number of variants that share a worker. It is small, because one success makes the others
superfluous."""
_MAX_VARIANTS = 400
_MIN_RUNNING_SEARCHES = 2
"""Number of searches at a time on targets with a single lane."""
_INITIAL_SECONDS_PER_SEARCH = 1.0
"""Assumed time of a search until one has ended."""


@dataclass(slots=True)
class _MinimisationSearch:
    key: str
    best: Finding
    attempted: set[str] = field(default_factory=set)
    """Identifiers of the cases that have been executed."""
    running: tuple[Case, ...] = ()
    """Variants that are being executed."""
    outcomes: dict[str, tuple[Outcome, ...]] = field(default_factory=dict)
    """Outcomes of the running variants, in order, by target."""
    is_simpler: bool = False
    """True if `best` has replaced the proposed finding."""
    conforming: tuple[Case, ...] = ()
    """Cases that conform to the documentation. They are executed before simpler variants."""
    must_conform: bool = False
    """True if the best case conforms to the documentation. Its variants must then conform too."""


class ConformityCheck(Protocol):
    """Decides whether cases conform to the documentation."""

    def breaches(self, finding: Finding) -> tuple[str, ...]:
        """Return the violations of the documentation that matter for a finding, as phrases."""

    def conforming(self, finding: Finding) -> list[Case]:
        """Return cases that are similar to a finding's case and conform to the documentation."""


class Minimiser:
    """Minimises findings on a dispatcher, in the background of other jobs.

    The caller passes the results of the minimiser's jobs to `take`.
    """

    KEY = "minimise"

    def __init__(
        self,
        dispatcher: Dispatcher,
        *,
        repetitions: int,
        subject_of: SubjectLookup,
        time_left: Callable[[], float] = lambda: math.inf,
        conformity: ConformityCheck | None = None,
    ) -> None:
        """Create a minimiser.

        Args:
            dispatcher: the dispatcher that runs the variants.
            repetitions: number of repetitions that must reproduce the minimised finding.
            subject_of: the function that returns the subject of a finding.
            time_left: the function that returns the time until minimisation ends, in seconds.
            conformity: the check whether cases conform; None if they need not conform.
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
        self._ended = 0
        """Number of searches that have ended."""
        self.spent_s = 0.0
        """Time of the workers for all searches, in seconds."""

    def propose(self, key: str, finding: Finding) -> None:
        """Queue the representative finding of the bucket with the fingerprint `key`."""
        search = _MinimisationSearch(key, finding)
        if self._conformity is not None:
            search.conforming = tuple(self._conformity.conforming(finding))
            search.must_conform = not self._conformity.breaches(finding)
        self._queue.append(search)

    @property
    def is_idle(self) -> bool:
        """True if no search is queued or running, and no result is being confirmed."""
        return not self._queue and not self._searches and self._confirmer.is_idle

    @property
    def needed_s(self) -> float:
        """Expected time until all searches have ended, in seconds."""
        waiting = len(self._queue) + len(self._searches)
        return self._confirmer.needed_s + waiting * self.seconds_per_search

    @property
    def seconds_per_search(self) -> float:
        """Mean time of the searches so far if all lanes run some, in seconds."""
        spent_s = self.spent_s / self._ended if self._ended else _INITIAL_SECONDS_PER_SEARCH
        return spent_s / self._dispatcher.lanes

    def pump(self) -> None:
        """Start queued searches, continue those without a job, and confirm their results."""
        limit = max(_MIN_RUNNING_SEARCHES, self._dispatcher.lanes)
        while self._queue and len(self._searches) < limit:
            search = self._queue.popleft()
            self._searches[search.key] = search
        for search in list(self._searches.values()):
            if not search.running:
                self._continue(search)
        self._confirmer.pump()

    def _continue(self, search: _MinimisationSearch) -> None:
        """Start the next variants of a search, or end it and confirm its result."""
        subject, targets = self._subject_of(search.best), tuple(search.best.outcomes)
        variants = [
            variant
            for variant in (*search.conforming, *reductions(search.best.case))
            if case_id(variant) not in search.attempted
            and is_expressible(variant, targets, subject)
            and not self._is_worse(search, variant)
        ]
        if not variants or len(search.attempted) >= _MAX_VARIANTS:
            del self._searches[search.key]
            self._ended += 1
            if search.is_simpler:
                self._confirmer.propose(search.key, search.best)
            return
        search.running = tuple(variants[:_GROUP_SIZE])
        search.outcomes = {}
        # The first variant that crashes is the simplest of them, and each crash costs a worker.
        stops_at_crash = traits_of(search.best.oracle).is_crash
        for target in targets:
            cases = tuple(encode_for_target(target, case, subject) for case in search.running)
            job = Job(
                target,
                (self.KEY, search.key),
                cases,
                fresh=True,
                max_hangs=1,
                stops_at_crash=stops_at_crash,
            )
            self._dispatcher.add(job, Priority.BACKGROUND)

    def take(self, result: JobResult) -> list[Finding]:
        """Process the result of one of the minimiser's jobs.

        Returns:
            Confirmed findings that may replace the proposed ones.
        """
        key = result.job.key[1]  # type: ignore[index]
        self.spent_s += result.elapsed_s
        if not isinstance(key, str):
            return [
                settled.finding
                for settled in self._confirmer.take(result)
                if settled.confirmation is Confirmation.CONFIRMED
                # Another defect of the same kind may have been more frequent in the repetitions.
                and fingerprint(settled.finding).key == settled.key
            ]
        search = self._searches.get(key)
        if search is None:
            return []  # the search was abandoned while the job ran
        search.outcomes[result.job.target] = result.outcomes
        if len(search.outcomes) == len(search.best.outcomes):
            self._judge(search)
            search.running = ()
        return []

    def _judge(self, search: _MinimisationSearch) -> None:
        """Replace the best finding by that of the simplest variant with the same fingerprint."""
        findings: list[Finding] = []
        subject = self._subject_of(search.best)
        results = zip(
            search.running, *search.outcomes.values(), strict=False
        )  # a hang, or a crash that is searched, skips the remaining cases
        for case, *case_outcomes in results:
            search.attempted.add(case_id(case))
            outcomes = dict(zip(search.outcomes, case_outcomes, strict=True))
            ordered_outcomes = {name: outcomes[name] for name in search.best.outcomes}
            findings += [
                finding
                for finding in judge(case, ordered_outcomes, subject)
                if fingerprint(finding).key == search.key
            ]
        if findings:
            conforming = [finding for finding in findings if finding.case in search.conforming]
            search.best = min(conforming or findings, key=lambda finding: simplicity(finding.case))
            search.is_simpler = True
            if conforming:
                search.conforming, search.must_conform = (), True

    def _is_worse(self, search: _MinimisationSearch, variant: Case) -> bool:
        """Return whether a variant violates the documentation although the best case does not."""
        if self._conformity is None or not search.must_conform:
            return False
        return bool(self._conformity.breaches(replace(search.best, case=variant)))

    def abandon(self, target: str = "") -> None:
        """Remove searches that have not ended.

        Args:
            target: name of the target whose searches are removed; empty for all searches.
        """
        self._queue = deque(
            search for search in self._queue if target and target not in search.best.outcomes
        )
        self._searches = {
            key: search
            for key, search in self._searches.items()
            if target and target not in search.best.outcomes
        }
        self._confirmer.abandon(target)
