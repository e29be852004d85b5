"""Isolating: from a model on which targets disagree to the one layer that brings it about.

LEMON checks each of its findings by hand, with a model of one layer that is called with what the
suspect was called with. Here that is a run like any other: a suspect alone, first on numbers in the
range that its inputs had, then on the very inputs, brought back whole from the elected target. What
shows there is a finding about that layer; what no layer shows alone is rounding that the model
made much of, and is dropped. Only a model that ends differently on its targets is told as a whole.
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
from ciguard.execution import Container, Job, TensorOutput, decode_outputs
from ciguard.levels.model.exact import exact_runs, is_inexact, may_be_inexact
from ciguard.levels.model.suspicion import ModelSuspicion, isolated, suspicion
from ciguard.levels.model.wide import widely
from ciguard.oracles import judge
from ciguard.oracles.relations import encode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.campaign import Executed, Group
    from ciguard.domain.findings import Finding
    from ciguard.domain.models import Data
    from ciguard.execution import Dispatcher, JobResult

_MAX_UNDER_WAY = 2
_MAX_WAITING = 64
"""Doubts beyond that are dropped: the models to come raise them again."""
_MAX_IN_VAIN = 3
"""Times that one kind of layer is looked at alone and shows nothing, before it is left alone."""
_MAX_SHOWN = 2
"""Times that one kind of layer shows something alone, before it is known to do so without a look:
a layer of a seed model is in most mutants."""
_MAX_FOUND = 6
"""Findings about one kind of layer, check and symptom; more of them say nothing new."""
_MAX_WIDE = 3
"""Configurations of a layer that are looked at far from zero; one may say nothing, as an enlarged
image of one pixel."""
_MAX_ELEMENTS = 16384
"""Of all inputs of a layer, written out: a case is stored, and sent, as text."""
_MODEL = "keras.Model"
_LIMIT_S = 20.0
"""Time of one layer; a backend may have to compile it first."""


@dataclass(slots=True)
class _IsolationSearch:
    doubt: ModelSuspicion
    group: Group
    told_whole: list[Finding]
    """What is found of the model as a whole, for want of a layer to blame."""
    left: deque[str]
    suspect: str = ""
    case: ModelCase | None = None
    """Under way; the whole model with a probe, or a layer alone."""
    targets: tuple[str, ...] = ()
    outcomes: dict[str, tuple[Outcome, ...]] = field(default_factory=dict)
    is_explicit: bool = False
    shown: list[Finding] = field(default_factory=list)
    """What the layer alone has shown, while it is run in double precision."""
    has_told: bool = False
    """Whether a layer is known that brings it about; what is left is new layers behind it."""


class Isolator:
    """Looks at suspects on a dispatcher; the caller hands it the results that are its own."""

    key = "isolate"

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher
        self._queue: deque[_IsolationSearch] = deque()
        self._under_way: dict[int, _IsolationSearch] = {}
        self._number = 0
        self._in_vain: Counter[str] = Counter()
        self._shown: Counter[str] = Counter()
        self._found: Counter[str] = Counter()
        self._seen: set[str] = set()
        """Kinds of layers that were looked at alone."""
        self._met: dict[str, set[str]] = {}
        """Configurations by layer, class and activation, that were met in any model, the first."""
        self._wide: deque[tuple[ModelCase, Group]] = deque()
        """Runs of these alone on numbers far from zero, to be done when there is nothing else."""

    @property
    def is_idle(self) -> bool:
        """Whether nothing waits and nothing is under way."""
        return not self._queue and not self._wide and not self._under_way

    def note(self, executed: Executed, group: Group) -> None:
        """Take the runs of whole models, and keep those on which targets disagree."""
        names = list(executed.outcomes)
        rows = zip(*executed.outcomes.values(), strict=True)
        for case, row in zip(executed.cases, rows, strict=True):
            if not isinstance(case, ModelCase):
                continue
            self._meet(case, group)
            if len(self._queue) >= _MAX_WAITING:
                continue
            outcomes = dict(zip(names, row, strict=True))
            doubt = suspicion(case, outcomes)
            if doubt is not None:
                whole = judge(case, outcomes, group.subject(_MODEL))
                self._queue.append(_IsolationSearch(doubt, group, whole, deque(doubt.suspects)))

    def _meet(self, case: ModelCase, group: Group) -> None:
        """Note the layers that no model had before."""
        for node in case.graph.nodes:
            met = self._met.setdefault(f"{node.layer} {node.config.get('activation', '')}", set())
            alone = widely(case, node) if node.inputs and len(met) < _MAX_WIDE else None
            if alone is not None and _kind(alone) not in met:
                met.add(_kind(alone))
                self._wide.append((alone, group))

    def pump(self) -> list[Finding]:
        """Start as many searches as may be under way; return what ended without a layer."""
        findings = []
        while self._queue and len(self._under_way) < _MAX_UNDER_WAY:
            findings += self._go_on(self._queue.popleft())
        if self._wide and not self._under_way:  # one at a time: mutants matter more
            case, group = self._wide.popleft()
            doubt = ModelSuspicion(case=case, suspects=(), samples={})
            search = _IsolationSearch(doubt, group, [], deque(), is_explicit=True)
            self._send(search, case, group.running_eagerly)
        return findings

    def _go_on(self, search: _IsolationSearch) -> list[Finding]:
        """Look at the next suspect; where there is none, return what is told of the model."""
        while search.left:
            name = search.left.popleft()
            case = isolated(search.doubt, name)
            if self._shown[_kind(case)] >= _MAX_SHOWN:
                _look_behind(search)
            elif self._is_worth_it(case, search):
                self._seen.add(_kind(case))
                search.suspect, search.is_explicit = name, False
                self._send(search, case, search.group.running_eagerly)
                return []
        return [] if search.has_told else search.told_whole

    def _is_worth_it(self, case: ModelCase, search: _IsolationSearch) -> bool:
        if search.has_told:
            return _kind(case) not in self._seen
        return self._in_vain[_kind(case)] < _MAX_IN_VAIN

    def _send(self, search: _IsolationSearch, case: ModelCase, targets: tuple[str, ...]) -> None:
        search.case = case
        self._run(search, (case,), targets)

    def _run(
        self, search: _IsolationSearch, cases: tuple[ModelCase, ...], targets: tuple[str, ...]
    ) -> None:
        search.targets, search.outcomes = targets, {}
        self._number += 1
        self._under_way[self._number] = search
        encoded = tuple(map(encode, cases))
        for target in targets:
            key = self.key, self._number
            job = Job(target, key, encoded, most_hangs=1, limit_s=_LIMIT_S)
            self._dispatcher.add(job, urgent=True)  # what waits in queues is dropped between stages

    def take(self, result: JobResult) -> Iterator[Finding]:
        """Take the result of one of this isolator's jobs; return what it proves."""
        number: int = result.job.key[1]  # type: ignore[index]
        search = self._under_way.get(number)
        if search is None:
            return  # given up meanwhile
        search.outcomes[result.job.target] = result.outcomes
        if len(search.outcomes) < len(search.targets):
            return
        del self._under_way[number]
        yield from self._judge(search)

    def _judge(self, search: _IsolationSearch) -> Iterator[Finding]:
        case = search.case
        if case is None:
            return
        if search.shown:
            yield from self._weigh(search, case)
            return
        first = {name: outcomes[0] for name, outcomes in search.outcomes.items()}
        if case.probe:
            data = _probed(first[search.targets[0]])
            if data:
                search.is_explicit = True
                alone = isolated(search.doubt, search.suspect, data)
                self._send(search, alone, search.group.running_eagerly)
            else:
                yield from self._go_on(search)
            return
        findings = judge(case, first, search.group.subject(case.api))
        if any(map(may_be_inexact, findings)):
            search.shown = findings
            self._run(search, exact_runs(case), search.targets)
            return
        if findings:
            yield from self._told(search, case, findings)
            return
        yield from self._look_further(search, case)

    def _weigh(self, search: _IsolationSearch, case: ModelCase) -> Iterator[Finding]:
        """Hold what was shown against double precision: what is left of it is no rounding."""
        shown, search.shown = search.shown, []
        left = [
            finding
            for finding in shown
            if not (may_be_inexact(finding) and is_inexact(finding, case, search.outcomes))
        ]
        if left:
            yield from self._told(search, case, left)
        else:
            yield from self._look_further(search, case)

    def _look_further(self, search: _IsolationSearch, case: ModelCase) -> Iterator[Finding]:
        """Try the suspect on its very inputs, else the next suspect."""
        if not search.is_explicit and search.doubt.witness and not search.has_told:
            whole = replace(search.doubt.case, probe=search.suspect)
            self._send(search, whole, (search.doubt.witness,))
            return
        self._in_vain[_kind(case)] += 1
        yield from self._go_on(search)

    def _told(
        self, search: _IsolationSearch, case: ModelCase, findings: list[Finding]
    ) -> Iterator[Finding]:
        """Tell what a layer has shown, and go on."""
        yield from self._told_once(case, findings)
        self._shown[_kind(case)] += 1
        _look_behind(search)
        yield from self._go_on(search)

    def _told_once(self, case: ModelCase, findings: list[Finding]) -> Iterator[Finding]:
        for finding in findings:
            key = f"{case.api} {case.check} {finding.oracle} {finding.kind} {finding.targets}"
            self._found[key] += 1
            if self._found[key] <= _MAX_FOUND:
                yield finding

    def give_up(self, target: str) -> None:
        """Forget what needs a target that failed."""
        for number, search in list(self._under_way.items()):
            if target in search.targets:
                del self._under_way[number]

    def abandon(self) -> None:
        """Forget everything that is not settled."""
        self._queue.clear()
        self._wide.clear()
        self._under_way.clear()


def _look_behind(search: _IsolationSearch) -> None:
    """Go on with the layers that a deviating one hides: no sample says anything of them.

    Each new kind of these is looked at once, so that a layer of a seed model, which is in most
    mutants, does not keep what lies behind it from showing.
    """
    if not search.has_told:
        search.has_told = True
        search.left += [name for name in search.doubt.hidden if name not in search.left]


def _kind(case: ModelCase) -> str:
    """Return what tells one kind of layer from another: class, configuration, what is checked."""
    layer = case.graph.nodes[-1]
    config = json.dumps(dict(layer.config), sort_keys=True)
    ranks = [len(node.shape) for node in case.graph.inputs]
    return f"{layer.layer} {config} {ranks} {case.check}"


def _probed(outcome: Outcome) -> tuple[Data, ...]:
    """Return what a layer was called with, element by element; nothing if it did not come back."""
    output = decode_outputs(outcome.encoded) if isinstance(outcome, Passed) else None
    if not isinstance(output, Container) or output.keys != ("inputs",):
        return ()
    (inputs,) = output.items
    if not isinstance(inputs, Container) or not inputs.items:
        return ()
    arrays = [item for item in inputs.items if isinstance(item, TensorOutput)]
    if len(arrays) < inputs.length or not all(map(_is_numeric, arrays)):
        return ()
    in_row = sum(math.prod(array.shape[1:]) for array in arrays)
    rows = min(_MAX_ELEMENTS // max(1, in_row), *(array.shape[0] for array in arrays))
    return tuple(_first_rows(array, rows) for array in arrays) if rows else ()


def _first_rows(array: TensorOutput, rows: int) -> ArrayValue:
    count = rows * math.prod(array.shape[1:])
    data = Explicit(tuple(array.elements[:count].tolist()))
    return ArrayValue(array.dtype, (rows, *array.shape[1:]), data)


def _is_numeric(array: TensorOutput) -> bool:
    """Return whether a tensor holds numbers, in rows."""
    return (
        bool(array.shape)
        and array.elements.dtype.kind in "fiub"
        and math.prod(array.shape) == array.elements.size
    )
