"""Many parts as one run: pure functions of sets, so that neither order nor repetition matters."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING

from ciguard.baseline import find_record
from ciguard.domain.findings import PairKind, Tally, TargetSummary
from ciguard.domain.parts import Gap, part_name, part_to_json
from ciguard.domain.shards import Shard, parse_shard
from ciguard.domain.text import shortened
from ciguard.domain.untrusted import MAX_TEXT_LENGTH
from ciguard.triage import united

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ciguard.baseline import Records
    from ciguard.campaign.sharding.parts_file import Folder
    from ciguard.domain.documentation import DocumentationFinding
    from ciguard.domain.findings import Bucket
    from ciguard.domain.parts import Part, PartKey, StreamProgress
    from ciguard.domain.plan import Plan


_STRANGE = "of another campaign: its seed, its selection or its ciguard differ"


@dataclass(frozen=True, slots=True, kw_only=True)
class MergedRun:
    """The parts that belong together, and what is missing of them."""

    parts: tuple[Part, ...]
    """One per key, in the order of their keys."""
    missing: tuple[Gap, ...]
    warnings: tuple[str, ...]


def whole_of(folders: Sequence[Folder], plan: Plan | None = None) -> MergedRun:
    """Return the parts of the campaign that most of them belong to, and what is missing.

    Args:
        folders: as they were read, in any order, some perhaps twice.
        plan: names the parts that there should be; without it, the shards of every row that has
            left at least one.
    """
    every = [part for folder in folders for part in folder.parts]
    chosen, strangers = _of_one_campaign(every)
    parts, warnings = _one_per_key(chosen)
    expected = _expected(parts, plan)
    present = {part.name for part in parts.values()}
    missing = {name: "it left no result" for key, name in expected.items() if key not in parts}
    missing |= {
        gap.name: gap.reason
        for gap in sorted(gap for folder in folders for gap in folder.gaps)
        if gap.name not in present
    }
    missing |= {part.name: _why(part) for part in parts.values() if not part.is_whole}
    for part in strangers:
        if part.key in parts:
            warnings.append(f"{part.name}: left out a result {_STRANGE}")
        else:
            missing[part.name] = f"its result is {_STRANGE}"
    broken = {f"{folder.name}: {reason}" for folder in folders for reason in folder.broken}
    is_accounted_for = plan is not None and parts.keys() >= expected.keys()
    for text in sorted(broken):
        name, _, reason = text.partition(": ")
        if is_accounted_for:
            warnings.append(f"{text}; every part that was planned is there")
        else:
            missing[name] = reason
    if not parts and not missing:
        missing["any shard"] = "no result was given"
    return MergedRun(
        parts=tuple(parts[key] for key in sorted(parts)),
        missing=tuple(Gap(name, reason) for name, reason in sorted(missing.items())),
        warnings=tuple(sorted(set(warnings))),
    )


def _of_one_campaign(parts: Iterable[Part]) -> tuple[list[Part], list[Part]]:
    """Return the parts of the campaign that has most of them, and the others."""
    by_campaign: dict[str, list[Part]] = {}
    for part in parts:
        name = json.dumps([part.ciguard, dict(part.campaign)], sort_keys=True)
        by_campaign.setdefault(name, []).append(part)
    ranked = sorted(by_campaign, key=lambda n: (-len({p.key for p in by_campaign[n]}), n))
    chosen = by_campaign[ranked[0]] if ranked else []
    return chosen, [part for name in ranked[1:] for part in by_campaign[name]]


def _one_per_key(parts: Iterable[Part]) -> tuple[dict[PartKey, Part], list[str]]:
    """Return the best part of every key: a shard that ran twice counts once."""
    best: dict[PartKey, Part] = {}
    different: set[PartKey] = set()
    for part in sorted(parts, key=_worth):
        if part.key in best and best[part.key] != part:
            different.add(part.key)
        best[part.key] = part
    warnings = [f"{best[key].name}: left several results; the longest counts" for key in different]
    return best, warnings


def _worth(part: Part) -> tuple[bool, int, str]:
    cases = sum(target.tally.total for target in part.ran)
    return part.is_whole, cases, json.dumps(part_to_json(part), sort_keys=True)


def _expected(parts: Mapping[PartKey, Part], plan: Plan | None) -> dict[PartKey, str]:
    """Return the parts that there should be, each with its name."""
    expected: dict[PartKey, str] = {}
    for part in parts.values():
        for index in range(1, part.shard.of + 1):
            name = part_name(part.targets, Shard(index, part.shard.of))
            expected[part.row, index] = name
    for job in plan.jobs if plan else ():
        shard = parse_shard(job.shard)
        expected[(job.targets, job.base, shard.of), shard.index] = part_name(job.targets, shard)
    return expected


def _why(part: Part) -> str:
    reasons = [f"{target.name}: {target.not_run}" for target in part.ran if target.not_run]
    told = "; ".join(reasons) or f"it ended early ({part.verdict.value})"
    return shortened(told, MAX_TEXT_LENGTH)


# --- what they found ------------------------------------------------------------------------------


def buckets_of(parts: Iterable[Part]) -> list[Bucket]:
    """Return the buckets of all parts, those of one fingerprint as one."""
    found: dict[str, list[Bucket]] = {}
    for part in parts:
        for bucket in part.buckets:
            found.setdefault(bucket.fingerprint, []).append(bucket)
    return [reduce(united, found[name]) for name in sorted(found)]


def targets_of(parts: Iterable[Part]) -> list[TargetSummary]:
    """Return the targets of all parts, those of one name as one."""
    found: dict[str, list[TargetSummary]] = {}
    for part in parts:
        for target in part.ran:
            found.setdefault(target.name, []).append(target)
    return [reduce(_same_target, found[name]) for name in found]


def _same_target(one: TargetSummary, other: TargetSummary) -> TargetSummary:
    counts = Counter(one.tally.as_dict())
    counts.update(other.tally.as_dict())
    return replace(
        one,
        version=_both(one.version, other.version),
        python=_both(one.python, other.python),
        device=_both(one.device, other.device),
        packages={**other.packages, **one.packages},
        confined_by=tuple(name for name in one.confined_by if name in other.confined_by),
        unconfined=tuple(dict.fromkeys([*one.unconfined, *other.unconfined])),
        apis=max(one.apis, other.apis),
        tally=Tally(**counts),
        not_run="",
    )


def _both(one: str, other: str) -> str:
    """Return what two machines said, if it was not the same."""
    return ", ".join(dict.fromkeys([*one.split(", "), *other.split(", ")]))


def exercised_by(parts: Iterable[Part]) -> dict[str, frozenset[str]]:
    """Return the APIs that any part has called, by target."""
    found: dict[str, frozenset[str]] = {}
    for part in parts:
        for name, apis in part.exercised.items():
            found[name] = found.get(name, frozenset()) | apis
    return found


def replayed_by(parts: Iterable[Part], records: Records) -> dict[str, frozenset[str]]:
    """Return on which targets stored cases ran, where no part found anything then.

    A difference between targets is looked for only where one part ran the case on all of them.
    """
    found: dict[str, frozenset[str]] = {}
    for part in parts:
        for name, targets in part.replayed.items():
            record = find_record(records, name)
            if record is None:
                continue
            is_together = targets.issuperset(record.targets)
            if record.exhibit.pair is PairKind.NONE or is_together:
                found[name] = found.get(name, frozenset()) | targets
    return found


def shown_on(parts: Iterable[Part]) -> dict[str, frozenset[tuple[str, ...]]]:
    """Return on which targets each bucket was met, by fingerprint."""
    found: dict[str, frozenset[tuple[str, ...]]] = {}
    for part in parts:
        for name, every in part.shown_on.items():
            found[name] = found.get(name, frozenset()) | every
    return found


def explored_by(parts: Sequence[Part]) -> dict[str, tuple[StreamProgress, float]]:
    """Return how far every stream got on all shards, and the total budget that it takes.

    A stream of which a shard knows nothing is left out.
    """
    by_stream: dict[str, list[Part]] = {}
    for part in parts:
        for name in part.explored:
            by_stream.setdefault(name, []).append(part)
    found = {}
    for name, having in by_stream.items():
        shards = {part.shard for part in having}
        least = min((part.explored[name] for part in having), key=lambda far: far.batches)
        if len(shards) == having[0].shard.of:
            budget_s = min(part.explored_in_s for part in having) * len(shards)
            found[name] = least, budget_s
    return found


def documentation_of(parts: Iterable[Part]) -> dict[str, tuple[DocumentationFinding, ...]]:
    """Return what is wrong with the documentation of each library."""
    found: dict[str, dict[str, DocumentationFinding]] = {}
    for part in parts:
        for finding in part.documentation:
            found.setdefault(finding.library, {}).setdefault(finding.fingerprint, finding)
    return {
        library: tuple(found[library][name] for name in sorted(found[library]))
        for library in sorted(found)
    }


def stages_of(parts: Iterable[Part]) -> dict[str, float]:
    """Return the seconds that all parts spent, by stage."""
    spent: dict[str, float] = {}
    for part in parts:
        for name, seconds in part.stages.items():
            spent[name] = spent.get(name, 0.0) + seconds
    return spent
