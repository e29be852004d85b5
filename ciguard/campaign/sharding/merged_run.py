"""Merging of parts into one run, by pure functions that ignore order and repetition."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING

from ciguard.baseline import find_record
from ciguard.domain.documentation import DocumentationCheck
from ciguard.domain.findings import PairKind, Tally, TargetSummary
from ciguard.domain.parts import Gap, part_name, part_to_json
from ciguard.domain.shards import Shard, parse_shard
from ciguard.domain.text import shortened
from ciguard.domain.untrusted import MAX_TEXT_LENGTH
from ciguard.domain.visits import merged_visits, unpack_visits
from ciguard.oracles import traits_of
from ciguard.triage import merge_buckets

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ciguard.baseline import Records
    from ciguard.campaign.sharding.parts_file import Folder
    from ciguard.domain.documentation import DocumentationFinding
    from ciguard.domain.findings import Bucket
    from ciguard.domain.parts import Part, PartKey, StreamProgress
    from ciguard.domain.plan import Plan


_OTHER_CAMPAIGN = "of another campaign: its seed, selection or version of ciguard differs"


@dataclass(frozen=True, slots=True, kw_only=True)
class MergedRun:
    """Parts of one campaign, and the missing ones."""

    parts: tuple[Part, ...]
    """Parts in the order of their keys, one per key."""
    missing: tuple[Gap, ...]
    """Missing and incomplete parts, with reasons."""
    warnings: tuple[str, ...]
    """Warnings for the user."""


def merge_parts(folders: Sequence[Folder], plan: Plan | None = None) -> MergedRun:
    """Return the parts of the campaign that most parts belong to, and its missing parts.

    Args:
        folders: output folders, in any order, possibly with duplicates.
        plan: plan that names the expected parts; without a plan, all shards of each row with at
            least one part are expected.
    """
    all_parts = [part for folder in folders for part in folder.parts]
    chosen, foreign = _of_one_campaign(all_parts)
    parts, warnings = _one_per_key(chosen)
    expected = _expected(parts, plan)
    present = {part.name for part in parts.values()}
    missing = {name: "it has no result" for key, name in expected.items() if key not in parts}
    missing |= {
        gap.name: gap.reason
        for gap in sorted(gap for folder in folders for gap in folder.gaps)
        if gap.name not in present
    }
    missing |= {part.name: _reason(part) for part in parts.values() if not part.is_whole}
    for part in foreign:
        if part.key in parts:
            warnings.append(f"{part.name}: ignored a result {_OTHER_CAMPAIGN}")
        else:
            missing[part.name] = f"its result is {_OTHER_CAMPAIGN}"
    broken = {f"{folder.name}: {reason}" for folder in folders for reason in folder.broken}
    is_complete = plan is not None and parts.keys() >= expected.keys()
    for text in sorted(broken):
        name, _, reason = text.partition(": ")
        if is_complete:
            warnings.append(f"{text}; every planned part is present")
        else:
            missing[name] = reason
    if not parts and not missing:
        missing["any shard"] = "no folder of a result was given"
    return MergedRun(
        parts=tuple(parts[key] for key in sorted(parts)),
        missing=tuple(Gap(name, reason) for name, reason in sorted(missing.items())),
        warnings=tuple(sorted(set(warnings))),
    )


def _of_one_campaign(parts: Iterable[Part]) -> tuple[list[Part], list[Part]]:
    """Return the parts of the campaign with the most parts, and all others."""
    by_campaign: dict[str, list[Part]] = {}
    for part in parts:
        name = json.dumps([part.ciguard, dict(part.campaign)], sort_keys=True)
        by_campaign.setdefault(name, []).append(part)
    sizes = {name: len({part.key for part in group}) for name, group in by_campaign.items()}
    ranked = sorted(by_campaign, key=lambda name: (-sizes[name], name))
    chosen = by_campaign[ranked[0]] if ranked else []
    return chosen, [part for name in ranked[1:] for part in by_campaign[name]]


def _one_per_key(parts: Iterable[Part]) -> tuple[dict[PartKey, Part], list[str]]:
    """Return the most complete part of every key, as a shard that ran twice counts once."""
    best: dict[PartKey, Part] = {}
    different: set[PartKey] = set()
    for part in sorted(parts, key=_completeness):
        if part.key in best and best[part.key] != part:
            different.add(part.key)
        best[part.key] = part
    warnings = [
        f"{best[key].name}: has several results; the longest one is used" for key in different
    ]
    return best, warnings


def _completeness(part: Part) -> tuple[bool, int, str]:
    cases = sum(target.tally.total for target in part.ran)
    return part.is_whole, cases, json.dumps(part_to_json(part), sort_keys=True)


def _expected(parts: Mapping[PartKey, Part], plan: Plan | None) -> dict[PartKey, str]:
    """Return the names of the expected parts, by key."""
    expected: dict[PartKey, str] = {}
    for part in parts.values():
        for index in range(1, part.shard.of + 1):
            name = part_name(part.targets, Shard(index, part.shard.of))
            expected[part.row, index] = name
    for job in plan.jobs if plan else ():
        shard = parse_shard(job.shard)
        expected[(job.targets, job.base, shard.of), shard.index] = part_name(job.targets, shard)
    return expected


def _reason(part: Part) -> str:
    reasons = [f"{target.name}: {target.not_run}" for target in part.ran if target.not_run]
    text = "; ".join(reasons) or f"it ended early ({part.verdict.value})"
    return shortened(text, MAX_TEXT_LENGTH)


# --- merged results -------------------------------------------------------------------------------


def buckets_of(parts: Iterable[Part]) -> list[Bucket]:
    """Return the buckets of all parts, merged by fingerprint."""
    by_fingerprint: dict[str, list[Bucket]] = {}
    for part in parts:
        for bucket in part.buckets:
            by_fingerprint.setdefault(bucket.fingerprint, []).append(bucket)
    return [reduce(merge_buckets, by_fingerprint[name]) for name in sorted(by_fingerprint)]


def targets_of(parts: Iterable[Part]) -> list[TargetSummary]:
    """Return the targets of all parts, merged by name."""
    by_name: dict[str, list[TargetSummary]] = {}
    for part in parts:
        for target in part.ran:
            by_name.setdefault(target.name, []).append(target)
    return [reduce(_merged_target, by_name[name]) for name in by_name]


def _merged_target(first: TargetSummary, second: TargetSummary) -> TargetSummary:
    counts = Counter(first.tally.as_dict())
    counts.update(second.tally.as_dict())
    return replace(
        first,
        version=_both(first.version, second.version),
        python=_both(first.python, second.python),
        device=_both(first.device, second.device),
        packages={**second.packages, **first.packages},
        confined_by=tuple(name for name in first.confined_by if name in second.confined_by),
        unconfined=tuple(dict.fromkeys([*first.unconfined, *second.unconfined])),
        apis=max(first.apis, second.apis),
        tally=Tally(**counts),
        not_run="",
    )


def _both(first: str, second: str) -> str:
    """Return the distinct values of two machines, separated by commas."""
    return ", ".join(dict.fromkeys([*first.split(", "), *second.split(", ")]))


def exercised_by(parts: Iterable[Part]) -> dict[str, frozenset[str]]:
    """Return the APIs that were called by any part, by target."""
    exercised: dict[str, frozenset[str]] = {}
    for part in parts:
        for name, apis in part.exercised.items():
            exercised[name] = exercised.get(name, frozenset()) | apis
    return exercised


def replayed_by(parts: Iterable[Part], records: Records) -> dict[str, frozenset[str]]:
    """Return the targets on which stored cases ran without showing anything, by fingerprint.

    A difference between targets counts only if one part ran the case on all of them.
    """
    replayed: dict[str, frozenset[str]] = {}
    for part in parts:
        for name, targets in part.replayed.items():
            record = find_record(records, name)
            if record is None:
                continue
            is_complete = targets.issuperset(record.targets)
            if record.representative.pair is PairKind.NONE or is_complete:
                replayed[name] = replayed.get(name, frozenset()) | targets
    return replayed


def shown_on(parts: Iterable[Part]) -> dict[str, frozenset[tuple[str, ...]]]:
    """Return the targets on which each bucket was found, by fingerprint."""
    shown: dict[str, frozenset[tuple[str, ...]]] = {}
    for part in parts:
        for name, targets in part.shown_on.items():
            shown[name] = shown.get(name, frozenset()) | targets
    return shown


def explored_by(parts: Sequence[Part]) -> dict[str, tuple[StreamProgress, float]]:
    """Return the common progress of each stream on all shards, and the total budget for it.

    Streams that some shard did not explore, or with visits of other APIs, are omitted.
    """
    by_stream: dict[str, list[Part]] = {}
    for part in parts:
        for name in part.explored:
            by_stream.setdefault(name, []).append(part)
    explored = {}
    for name, explorers in by_stream.items():
        shards = {part.shard for part in explorers}
        lengths = {_visited_apis(part.explored[name]) for part in explorers}
        if len(shards) == explorers[0].shard.of and len(lengths) == 1:
            budget_s = min(part.explored_in_s for part in explorers) * len(shards)
            explored[name] = _merged([part.explored[name] for part in explorers]), budget_s
    return explored


def _visited_apis(progress: StreamProgress) -> int:
    return len(unpack_visits(progress.visits)) if progress.visits else 0


def _merged(progress: Sequence[StreamProgress]) -> StreamProgress:
    """Return the progress of all shards: the visits of all, or else that of the slowest."""
    slowest = min(progress, key=lambda progress: progress.batches)
    if not slowest.visits:
        return slowest
    visits = merged_visits(shard.visits for shard in progress)
    return replace(slowest, batches=sum(shard.batches for shard in progress), visits=visits)


def documentation_of(parts: Iterable[Part]) -> dict[str, tuple[DocumentationFinding, ...]]:
    """Return the findings in the documentation of each library.

    An API whose documentation changed alone in one part may behave differently in another.
    """
    parts = tuple(parts)
    differing = {
        bucket.finding.api
        for part in parts
        for bucket in part.buckets
        if traits_of(bucket.finding.oracle).is_differential
    }
    findings: dict[str, dict[str, DocumentationFinding]] = {}
    for part in parts:
        for finding in part.documentation:
            if finding.check is DocumentationCheck.CHANGED_ALONE and finding.api in differing:
                continue
            findings.setdefault(finding.library, {}).setdefault(finding.fingerprint, finding)
    return {
        library: tuple(findings[library][name] for name in sorted(findings[library]))
        for library in sorted(findings)
    }


def stages_of(parts: Iterable[Part]) -> dict[str, float]:
    """Return the seconds that all parts spent, by stage."""
    spent: dict[str, float] = {}
    for part in parts:
        for name, seconds in part.stages.items():
            spent[name] = spent.get(name, 0.0) + seconds
    return spent
