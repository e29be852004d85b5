"""Isolation: from a model on which targets disagree to the single layer that causes it.

The authors of LEMON checked each finding by hand, with a model of one layer that gets the suspect's
input. Here such a model is an ordinary run. A suspect runs alone, first on numbers in the range of
its inputs, then on its exact inputs, which the elected target returns.

If targets disagree on the layer alone, that is a finding about the layer. If they agree on each
suspect alone, the model only amplified rounding errors, and nothing is reported. A model as a whole
is reported only if its outcomes differ between targets.
"""

from __future__ import annotations

import json
import math
from collections import Counter, deque
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ciguard.domain.models import ModelCase
from ciguard.domain.outcomes import Outcome, Passed
from ciguard.domain.values import ArrayValue, Explicit
from ciguard.execution import Container, Job, Priority, TensorOutput, decode_outputs
from ciguard.levels.model.exact import exact_runs, is_inexact, may_be_inexact
from ciguard.levels.model.suspicion import ModelSuspicion, isolated_run, suspicion
from ciguard.levels.model.wide_range import wide_range_run
from ciguard.oracles import judge
from ciguard.oracles.relations import encode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.campaign import ExecutedBatch, Group
    from ciguard.domain.findings import Finding
    from ciguard.domain.models import Data
    from ciguard.execution import Dispatcher, JobResult

_MAX_RUNNING = 2
"""Maximum number of searches that run at the same time."""
_MAX_WAITING = 64
"""Maximum number of searches that wait. Others are dropped; later models raise the same
suspicions."""
_MAX_FRUITLESS = 3
"""Number of runs without a defect after which a kind of layer is skipped."""
_MAX_REPRODUCED = 2
"""Number of runs with a defect after which a kind of layer counts as defective without a run. A
layer of a seed model is in most mutants."""
_MAX_FINDINGS = 6
"""Maximum number of findings with the same layer class, check, symptom and targets."""
_MAX_WIDE = 3
"""Maximum number of configurations of a layer that run on numbers far from zero. A single one may
not show a defect, such as an enlargement of an image of one pixel."""
_MAX_ELEMENTS = 16384
"""Maximum number of elements of all explicit inputs of a layer, since a case is stored and sent as
text."""
_MODEL = "keras.Model"
"""API of cases that run whole models."""
_TIMEOUT_S = 20.0
"""Timeout of one layer, in seconds; a backend may have to compile it first."""


@dataclass(slots=True)
class _IsolationSearch:
    """The search for the layer that causes a disagreement."""

    suspicion: ModelSuspicion
    group: Group
    """Targets that run the layers."""
    model_findings: list[Finding]
    """Findings about the model as a whole, which are reported if no layer is to blame."""
    remaining: deque[str]
    """Names of suspects that have not run yet."""
    suspect: str = ""
    """Name of the current suspect."""
    case: ModelCase | None = None
    """Current case: the whole model with a probe, or a layer alone."""
    targets: tuple[str, ...] = ()
    """Names of the targets on which the current cases run."""
    outcomes: dict[str, tuple[Outcome, ...]] = field(default_factory=dict)
    """Outcomes of the current cases so far, by target."""
    is_explicit: bool = False
    """True if no run on exact inputs follows: the current case has them, or is a wide-range run."""
    candidates: list[Finding] = field(default_factory=list)
    """Findings about the layer alone that rounding may explain, while it runs in double
    precision."""
    has_reported: bool = False
    """True once a layer to blame is known; the remaining suspects are layers of new kinds after
    it."""


class Isolator:
    """Isolator of defective layers, which runs suspects; the caller passes on results of jobs."""

    key = "isolate"

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher
        self._queue: deque[_IsolationSearch] = deque()
        self._running: dict[int, _IsolationSearch] = {}
        self._run_count = 0
        self._fruitless: Counter[str] = Counter()
        """Number of runs without a defect, by kind of layer."""
        self._reproduced: Counter[str] = Counter()
        """Number of runs with a defect, by kind of layer."""
        self._reported: Counter[str] = Counter()
        """Number of similar findings, by what they have in common."""
        self._isolated_kinds: set[str] = set()
        """Kinds of layers that ran alone."""
        self._configurations: dict[str, set[str]] = {}
        """First configurations of each layer in any model, by class and activation."""
        self._wide_runs: deque[tuple[ModelCase, Group]] = deque()
        """Runs of these configurations on numbers far from zero, which start when nothing else
        waits."""

    @property
    def is_idle(self) -> bool:
        """True if nothing waits and nothing runs."""
        return not self._queue and not self._wide_runs and not self._running

    def note(self, executed: ExecutedBatch, group: Group) -> None:
        """Queue the runs of whole models in a batch on which targets disagree."""
        names = list(executed.outcomes)
        rows = zip(*executed.outcomes.values(), strict=True)
        for case, row in zip(executed.cases, rows, strict=True):
            if not isinstance(case, ModelCase):
                continue
            self._queue_new_layers(case, group)
            if len(self._queue) >= _MAX_WAITING:
                continue
            outcomes = dict(zip(names, row, strict=True))
            suspect_model = suspicion(case, outcomes)
            if suspect_model is not None:
                # A layer that ran alone runs again as it is, which decides.
                is_alone = bool(_data_of_one_layer(case, case.graph.nodes[-1].name))
                findings = [] if is_alone else judge(case, outcomes, group.subject(_MODEL))
                suspects = deque(suspect_model.suspects)
                self._queue.append(_IsolationSearch(suspect_model, group, findings, suspects))

    def _queue_new_layers(self, case: ModelCase, group: Group) -> None:
        """Queue wide-range runs of layers with configurations that no earlier model had."""
        for node in case.graph.nodes:
            key = f"{node.layer} {node.config.get('activation', '')}"
            seen = self._configurations.setdefault(key, set())
            wide = wide_range_run(case, node) if node.inputs and len(seen) < _MAX_WIDE else None
            if wide is not None and _kind(wide) not in seen:
                seen.add(_kind(wide))
                self._wide_runs.append((wide, group))

    def pump(self) -> list[Finding]:
        """Start as many searches as may run; return findings about models without a culprit."""
        findings = []
        while self._queue and len(self._running) < _MAX_RUNNING:
            findings += self._next_suspect(self._queue.popleft())
        if self._wide_runs and not self._running:  # one at a time, since searches have priority
            case, group = self._wide_runs.popleft()
            unsuspected = ModelSuspicion(case=case, suspects=(), samples={})
            search = _IsolationSearch(unsuspected, group, [], deque(), is_explicit=True)
            self._send(search, case, group.running_eagerly)
        return findings

    def _next_suspect(self, search: _IsolationSearch) -> list[Finding]:
        """Run the next suspect; without one, return the findings about the whole model."""
        while search.remaining:
            name = search.remaining.popleft()
            data = _data_of_one_layer(search.suspicion.case, name)
            case = isolated_run(search.suspicion, name, data)
            if self._reproduced[_kind(case)] >= _MAX_REPRODUCED:
                _add_hidden_suspects(search)
            elif data or self._is_worth_isolating(case, search):
                self._isolated_kinds.add(_kind(case))
                search.suspect, search.is_explicit = name, bool(data)
                self._send(search, case, search.group.running_eagerly)
                return []
        return [] if search.has_reported else search.model_findings

    def _is_worth_isolating(self, case: ModelCase, search: _IsolationSearch) -> bool:
        if search.has_reported:
            return _kind(case) not in self._isolated_kinds
        return self._fruitless[_kind(case)] < _MAX_FRUITLESS

    def _send(self, search: _IsolationSearch, case: ModelCase, targets: tuple[str, ...]) -> None:
        search.case = case
        self._run(search, (case,), targets)

    def _run(
        self, search: _IsolationSearch, cases: tuple[ModelCase, ...], targets: tuple[str, ...]
    ) -> None:
        search.targets, search.outcomes = targets, {}
        self._run_count += 1
        self._running[self._run_count] = search
        encoded = tuple(map(encode, cases))
        for target in targets:
            key = self.key, self._run_count
            job = Job(target, key, encoded, max_hangs=1, limit_s=_TIMEOUT_S)
            self._dispatcher.add(job, Priority.URGENT)  # queued jobs are dropped between stages

    def take(self, result: JobResult) -> Iterator[Finding]:
        """Yield the findings that follow from the result of one of this isolator's jobs."""
        number: int = result.job.key[1]  # type: ignore[index]
        search = self._running.get(number)
        if search is None:
            return  # the search was dropped
        search.outcomes[result.job.target] = result.outcomes
        if len(search.outcomes) < len(search.targets):
            return
        del self._running[number]
        yield from self._judge(search)

    def _judge(self, search: _IsolationSearch) -> Iterator[Finding]:
        case = search.case
        if case is None:
            return
        if search.candidates:
            yield from self._compare_with_exact(search, case)
            return
        first = {name: outcomes[0] for name, outcomes in search.outcomes.items()}
        if case.probe:
            data = _probed_inputs(first[search.targets[0]])
            if data:
                search.is_explicit = True
                alone = isolated_run(search.suspicion, search.suspect, data)
                self._send(search, alone, search.group.running_eagerly)
            else:
                yield from self._next_suspect(search)
            return
        findings = judge(case, first, search.group.subject(case.api))
        if any(map(may_be_inexact, findings)):
            search.candidates = findings
            self._run(search, exact_runs(case), search.targets)
            return
        if findings:
            yield from self._report(search, case, findings)
            return
        yield from self._try_exact_inputs(search, case)

    def _compare_with_exact(self, search: _IsolationSearch, case: ModelCase) -> Iterator[Finding]:
        """Report the candidates that double precision does not explain as rounding."""
        candidates, search.candidates = search.candidates, []
        findings = [
            finding
            for finding in candidates
            if not (may_be_inexact(finding) and is_inexact(finding, case, search.outcomes))
        ]
        if findings:
            yield from self._report(search, case, findings)
        else:
            yield from self._try_exact_inputs(search, case)

    def _try_exact_inputs(self, search: _IsolationSearch, case: ModelCase) -> Iterator[Finding]:
        """Run the suspect on its exact inputs; if they are not available, run the next suspect."""
        if not search.is_explicit and search.suspicion.witness and not search.has_reported:
            whole = replace(search.suspicion.case, probe=search.suspect)
            self._send(search, whole, (search.suspicion.witness,))
            return
        self._fruitless[_kind(case)] += 1
        yield from self._next_suspect(search)

    def _report(
        self, search: _IsolationSearch, case: ModelCase, findings: list[Finding]
    ) -> Iterator[Finding]:
        """Yield the findings about a layer, and continue the search with the next suspect."""
        yield from self._below_limit(case, findings)
        self._reproduced[_kind(case)] += 1
        _add_hidden_suspects(search)
        yield from self._next_suspect(search)

    def _below_limit(self, case: ModelCase, findings: list[Finding]) -> Iterator[Finding]:
        """Yield the findings of which `_MAX_FINDINGS` similar ones were not reported before."""
        for finding in findings:
            key = f"{case.api} {case.check} {finding.oracle} {finding.kind} {finding.targets}"
            self._reported[key] += 1
            if self._reported[key] <= _MAX_FINDINGS:
                yield finding

    def give_up(self, target: str) -> None:
        """Drop the running searches that need a failed target."""
        for number, search in list(self._running.items()):
            if target in search.targets:
                del self._running[number]

    def abandon(self) -> None:
        """Drop all unfinished searches."""
        self._queue.clear()
        self._wide_runs.clear()
        self._running.clear()


def _add_hidden_suspects(search: _IsolationSearch) -> None:
    """Add the layers after a deviating layer to the suspects.

    Their inputs deviate, so samples prove nothing about them. One layer of each kind that is new
    runs. Otherwise a defective layer of a seed model, which is in most mutants, would hide the
    layers after it.
    """
    if not search.has_reported:
        search.has_reported = True
        search.remaining += [
            name for name in search.suspicion.hidden if name not in search.remaining
        ]


def _data_of_one_layer(case: ModelCase, name: str) -> tuple[Data, ...]:
    """Return the inputs of a run of a layer alone, which needs no other inputs; else nothing."""
    is_alone = case.is_one_layer and case.graph.nodes[-1].name == name
    is_known = is_alone and all(isinstance(data, ArrayValue) for data in case.data)
    return case.data if is_known else ()


def _kind(case: ModelCase) -> str:
    """Return the key of a kind of layer: class, configuration, ranks, masks, dtype and check."""
    layer = case.graph.nodes[-1]
    config = json.dumps(dict(layer.config), sort_keys=True)
    ranks = [len(node.shape) for node in case.graph.inputs]
    masks = [node.layer for node in case.graph.masks]
    return f"{layer.layer} {config} {ranks} {masks} {case.check} {case.dtype} {case.training}"


def _probed_inputs(outcome: Outcome) -> tuple[Data, ...]:
    """Return the first rows of each input of a layer, from the outcome of a probe.

    The result is empty if the probe failed or an input does not consist of numbers.
    """
    output = decode_outputs(outcome.encoded) if isinstance(outcome, Passed) else None
    if not isinstance(output, Container) or output.keys != ("inputs",):
        return ()
    (inputs,) = output.items
    if not isinstance(inputs, Container) or not inputs.items:
        return ()
    arrays = [item for item in inputs.items if isinstance(item, TensorOutput)]
    if len(arrays) < inputs.length or not all(map(_is_numeric, arrays)):
        return ()
    elements_per_row = sum(math.prod(array.shape[1:]) for array in arrays)
    rows = min(_MAX_ELEMENTS // max(1, elements_per_row), *(array.shape[0] for array in arrays))
    return tuple(_first_rows(array, rows) for array in arrays) if rows else ()


def _first_rows(array: TensorOutput, rows: int) -> ArrayValue:
    count = rows * math.prod(array.shape[1:])
    data = Explicit(tuple(array.elements[:count].tolist()))
    return ArrayValue(array.dtype, (rows, *array.shape[1:]), data)


def _is_numeric(array: TensorOutput) -> bool:
    """Return whether a stored tensor is whole and consists of rows of numbers."""
    return (
        bool(array.shape)
        and array.elements.dtype.kind in "fiub"
        and math.prod(array.shape) == array.elements.size
    )
