"""Planted defects of a run: which ones, into which judged calls, and whether oracles notice them.

A defect is planted into calls that exploring has judged. They run again with the defect on one
target, and are judged with the recorded outcomes of the other targets. So a run that called an API
rarely, with the wrong arguments, or without a fitting oracle misses the defects of that API.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

from ciguard.campaign.judged_calls import EDGES, JudgedCall, SampledCalls
from ciguard.domain.api_calls import ApiCall, CallKind
from ciguard.domain.detection import COSTS, DefectKind, PlantedDefect
from ciguard.domain.dtypes import FLOATING
from ciguard.domain.outcomes import Rejected, Stage
from ciguard.domain.policy import Action
from ciguard.domain.values import TensorValue
from ciguard.execution import PLANTED
from ciguard.levels import ranked, select
from ciguard.oracles import judge, traits_of
from ciguard.oracles.relations import encode

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from ciguard.config import Config
    from ciguard.domain.findings import Finding
    from ciguard.domain.outcomes import Outcome
    from ciguard.domain.policy import Policy
    from ciguard.domain.records import ApiRecord
    from ciguard.oracles import Subject

MAX_DEFECTS = 50
"""Number of defects of a run, one for each sampled API."""
_FOCUS_SHARE = 0.7
"""Share of the APIs that are sampled from the focus, as of the batches."""
_WEIGHTS = {
    DefectKind.VALUE: 8,
    DefectKind.CRASH: 8,
    DefectKind.GRADIENT: 6,
    DefectKind.IGNORED: 5,
    DefectKind.EXCEPTION: 4,
    DefectKind.ACCEPTANCE: 5,
    DefectKind.DTYPE: 4,
    DefectKind.SHAPE: 4,
    DefectKind.NAN: 4,
    DefectKind.MUTATION: 2,
    DefectKind.SLOWDOWN: 2,
    DefectKind.LEAK: 2,
}
"""Shares of the kinds of defects."""


def sampled_apis(config: Config, records: Iterable[ApiRecord], count: int) -> tuple[str, ...]:
    """Return the APIs that get a defect, most of them from the focus; the seed decides which.

    A shard samples its own APIs, as it calls no others.

    Args:
        config: settings of the run.
        records: catalogue of the library.
        count: maximum number of APIs.
    """
    selected = select(records, config.api, config.exclude, allow=config.allow)
    if not config.shard.is_whole_campaign:
        own = config.shard.select(record.api for record in selected)
        selected = tuple(record for record in selected if record.api in own)
    chosen = [record.api for record in ranked(selected, config.focus)]
    rest = sorted({record.api for record in selected} - set(chosen))
    rng = random.Random(f"planted defects {config.seed}")  # noqa: S311 - repeatable
    from_rest = count if not chosen else max(count - len(chosen), round(count * (1 - _FOCUS_SHARE)))
    others = rng.sample(rest, min(len(rest), from_rest))
    preferred = rng.sample(chosen, min(len(chosen), count - len(others)))
    sampled = [*preferred, *others]
    rng.shuffle(sampled)  # if the time does not suffice, only the first ones get a defect
    return tuple(sampled)


def choose_defects(
    sampled: SampledCalls, *, seed: int, measurable: Collection[str] = ()
) -> dict[PlantedDefect, str]:
    """Return one defect for each sampled API, with its detail, in the shares of the kinds.

    A called API only gets a defect that some of its calls can show.

    Args:
        sampled: the judged calls of the sampled APIs.
        seed: seed of the run.
        measurable: APIs whose costs can be compared between targets; others get no slowdown or
            leak.
    """
    rng = random.Random(f"kinds of defects {seed}")  # noqa: S311 - repeatable
    chosen: dict[PlantedDefect, str] = {}
    taken: Counter[DefectKind] = Counter()
    for api in sampled.apis:
        calls = sampled.calls.get(api, ())
        details = _possible_kinds(calls) if calls else dict.fromkeys(_WEIGHTS, "")
        if api in measurable:
            details |= dict.fromkeys(COSTS, "")
        elif not measurable:
            details = {kind: detail for kind, detail in details.items() if kind not in COSTS}
        if not details:
            continue
        kind = min(details, key=lambda kind: ((taken[kind] + 1) / _WEIGHTS[kind], kind))
        taken[kind] += 1
        detail = rng.choice(EDGES) if kind is DefectKind.CRASH else details[kind]
        chosen[PlantedDefect(kind, api)] = detail
    return chosen


def _possible_kinds(calls: Sequence[JudgedCall]) -> dict[DefectKind, str]:
    """Return the kinds of defects that fit an API, with their details, given its judged calls."""
    tensors = chain.from_iterable(judged.tensors() for judged in calls)
    first = next(tensors, None)
    has_floats = first is not None and any(
        tensor.dtype in FLOATING for tensor in chain([first], tensors)
    )
    arguments = [value for judged in calls for value in judged.call.values]
    tensor_arguments = [value for value in arguments if isinstance(value, TensorValue)]
    takes_floats = any(value.dtype in FLOATING for value in tensor_arguments)
    keywords = Counter(name for judged in calls for name, _ in judged.call.keywords)
    fits = {
        **dict.fromkeys((DefectKind.DTYPE, DefectKind.SHAPE), first is not None),
        DefectKind.VALUE: has_floats,
        DefectKind.NAN: has_floats and any(judged.has_nan for judged in calls),
        DefectKind.GRADIENT: has_floats and takes_floats,
        DefectKind.MUTATION: takes_floats,
        **dict.fromkeys(
            (DefectKind.EXCEPTION, DefectKind.ACCEPTANCE),
            any(judged.is_rejected for judged in calls),
        ),
        DefectKind.IGNORED: bool(keywords),
        DefectKind.CRASH: bool(tensor_arguments),
    }
    keyword = keywords.most_common(1)[0][0] if keywords else ""
    return {kind: keyword if kind is DefectKind.IGNORED else "" for kind in fits if fits[kind]}


def encode_planted(call: ApiCall, defect: PlantedDefect, detail: str) -> bytes:
    """Return the encoded case that runs a call with a defect in its API."""
    if call.kind is CallKind.METHOD:  # a method is a function of its receiver
        call = replace(call, kind=CallKind.FUNCTION)
    case = json.loads(encode(call))
    return json.dumps([call.api, PLANTED, [[defect.kind.value, detail], case]]).encode("ascii")


def is_unplantable(outcome: Outcome) -> bool:
    """Return whether a defect could not be planted, since the library lacks what it needs."""
    return (
        isinstance(outcome, Rejected)
        and outcome.stage is Stage.BUILD
        and outcome.exception in {"UnplantableError", "NotImplementedError"}
    )


def notices(
    judged: JudgedCall,
    planted: Mapping[str, Outcome],
    defect: PlantedDefect,
    subject: Subject,
    policy: Policy,
) -> bool:
    """Return whether the oracles notice a defect in one call.

    Args:
        judged: the call as it was judged without the defect.
        planted: outcome with the defect, by target.
        defect: the planted defect.
        subject: API and targets.
        policy: policy of the run; findings that it ignores do not count.
    """
    outcomes = {**judged.outcomes, **planted}
    known = {_identity(finding) for finding in judge(judged.call, judged.outcomes, subject)}
    return any(
        _identity(finding) not in known
        and policy.action(finding) is not Action.OFF
        and _shows(finding, defect.kind)
        for finding in judge(judged.call, outcomes, subject)
    )


def _identity(finding: Finding) -> tuple[str, str, tuple[str, ...]]:
    return finding.oracle, finding.kind, finding.targets


def _shows(finding: Finding, kind: DefectKind) -> bool:
    """Return whether a finding can be about a kind of defect."""
    traits = traits_of(finding.oracle)
    match kind:
        case DefectKind.CRASH:
            return traits.is_crash
        case DefectKind.EXCEPTION:
            return finding.kind == "exception"
        case DefectKind.ACCEPTANCE:
            return finding.kind == "accepted" or traits.is_shown_by_passing
        case DefectKind.GRADIENT:
            return "gradient" in finding.kind
        case _:
            return traits.compares_results
