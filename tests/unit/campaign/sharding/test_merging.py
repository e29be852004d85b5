from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from campaign_examples import ONE, TWO, bucket, crash
from hypothesis import given, settings
from hypothesis import strategies as st
from part_examples import (
    CAMPAIGN,
    CRASH,
    DANGLING,
    DETECTION,
    FLAKY,
    PENDING,
    SIMPLER,
    STREAM,
    VALUES,
    part,
    parts,
    target,
    written,
)

from ciguard.baseline import Sighting, State, establish, read_runs
from ciguard.baseline.store import FolderStore
from ciguard.campaign import gather, merge
from ciguard.campaign.sharding import merged_run
from ciguard.campaign.sharding.merged_run import merge_parts
from ciguard.campaign.sharding.parts_file import Folder
from ciguard.config import Config
from ciguard.domain.documentation import DocumentationCheck
from ciguard.domain.events import (
    BucketFlaky,
    BucketOpened,
    DocumentationChecked,
    Event,
    RunFinished,
    TargetUnavailable,
    Warned,
)
from ciguard.domain.findings import Comparison, Confirmation, Tally, Verdict
from ciguard.domain.parts import Gap, StreamProgress
from ciguard.domain.plan import Plan, PlanMode, PlannedJob, SkippedJob
from ciguard.domain.shards import Shard
from ciguard.domain.value_table import ValueTable

if TYPE_CHECKING:
    from pathlib import Path

    from ciguard.domain.findings import Bucket
    from ciguard.domain.parts import Part

FIRST, SECOND = Shard(1, 2), Shard(2, 2)
SEEN = Sighting(time="2026-01-31T23:59:00Z")


def folders(*every: Part) -> list[Folder]:
    return [Folder(f"shard-{number}", (part,)) for number, part in enumerate(every)]


def planned(*jobs: PlannedJob, skipped: tuple[SkippedJob, ...] = ()) -> Plan:
    return Plan(mode=PlanMode.PULL_REQUEST, jobs=jobs, skipped=skipped)


@settings(max_examples=60)
@given(st.lists(parts(), max_size=6), st.data())
@pytest.mark.lengthy
def test_neither_order_nor_repetition_nor_merging_in_steps_changes_the_result(
    every: list[Part], data: st.DataObject
) -> None:
    expected = merge_parts(folders(*every))
    shuffled = data.draw(st.permutations(every))
    again = data.draw(st.lists(st.sampled_from(every))) if every else []
    cut = data.draw(st.integers(0, len(every)))
    steps = [Folder("some", tuple(every[:cut])), Folder("others", tuple(every[cut:]))]
    merged = Folder("merged", expected.parts, expected.missing)

    assert merge_parts(folders(*shuffled, *again)) == expected
    assert merge_parts(steps) == expected
    assert merge_parts([merged, *folders(*every)]) == expected
    assert replace(merge_parts([merged]), warnings=()) == replace(expected, warnings=())
    assert merged_run.buckets_of(merge_parts([merged]).parts) == merged_run.buckets_of(
        expected.parts
    )


@given(st.lists(parts(), min_size=1, max_size=6))
def test_no_bucket_of_a_chosen_part_is_lost(every: list[Part]) -> None:
    whole = merge_parts(folders(*every))

    met = merged_run.buckets_of(whole.parts)
    ran = merged_run.targets_of(whole.parts)
    exercised = merged_run.exercised_by(whole.parts)

    found = [bucket for part in whole.parts for bucket in part.buckets]
    assert {b.fingerprint for b in met} == {b.fingerprint for b in found}
    assert sum(b.count for b in met) == sum(b.count for b in found)
    cases = sum(summary.tally.total for part in whole.parts for summary in part.ran)
    assert sum(summary.tally.total for summary in ran) == cases
    for merged_part in whole.parts:
        assert all(exercised[name] >= apis for name, apis in merged_part.exercised.items())


def test_two_whole_shards_are_one_run() -> None:
    whole = merge_parts(folders(part(FIRST), part(SECOND)))

    assert [part.shard for part in whole.parts] == [FIRST, SECOND]
    assert (whole.missing, whole.warnings) == ((), ())


def test_a_shard_without_a_result_is_missing() -> None:
    whole = merge_parts(folders(part(Shard(1, 3)), part(Shard(3, 3))))

    assert whole.missing == (Gap(f"shard 2/3 of {ONE}, {TWO}", "it has no result"),)


def test_a_broken_folder_is_missing_unless_all_planned_parts_exist() -> None:
    given_folders = [*folders(part(FIRST), part(SECOND)), Folder("x", broken=("it is cut off",))]
    jobs = [
        PlannedJob(name=f"planted {shard}", targets=(ONE, TWO), shard=str(shard))
        for shard in (FIRST, SECOND)
    ]

    assert merge_parts(given_folders).missing == (Gap("x", "it is cut off"),)
    accounted = merge_parts(given_folders, planned(*jobs))
    assert accounted.missing == ()
    assert accounted.warnings == ("x: it is cut off; every planned part is present",)


def test_a_part_that_ended_early_or_lost_a_target_is_missing() -> None:
    interrupted = part(FIRST, verdict=Verdict.INTERRUPTED)
    lost = part(SECOND, verdict=Verdict.NOT_RUN, ran=(target(ONE, not_run="it died"), target(TWO)))

    whole = merge_parts(folders(interrupted, lost))

    assert [gap.reason for gap in whole.missing] == [
        "it ended early (INTERRUPTED)",
        f"{ONE}: it died",
    ]


@pytest.mark.parametrize(
    "changes",
    [{"campaign": {**CAMPAIGN, "seed": 7}}, {"ciguard": "9.9.9"}],
    ids=["seed", "version"],
)
def test_a_shard_of_another_campaign_is_reported_and_not_merged(changes: dict[str, Any]) -> None:
    own = [part(Shard(index, 3)) for index in (1, 2)]
    stranger = part(Shard(3, 3), buckets=(CRASH,), **changes)

    whole = merge_parts(folders(stranger, *own))

    assert list(whole.parts) == own
    assert len(whole.missing) == 1
    assert "of another campaign" in whole.missing[0].reason


def test_shards_of_different_counts_are_incomplete() -> None:
    whole = merge_parts(folders(part(Shard(1, 2)), part(Shard(2, 3))))

    assert [gap.name.split(" of ")[0] for gap in whole.missing] == [
        "shard 1/3",
        "shard 2/2",
        "shard 3/3",
    ]


def test_of_two_results_of_a_shard_the_complete_one_counts() -> None:
    killed = part(FIRST, verdict=Verdict.INTERRUPTED, buckets=(CRASH,))
    again = part(FIRST, buckets=(SIMPLER,))

    whole = merge_parts(folders(again, killed, part(SECOND)))

    assert whole.parts[0] == again
    assert whole.missing == ()
    assert "several results" in whole.warnings[0]


def test_planned_rows_without_results_are_missing_but_skipped_ones_are_not() -> None:
    jobs = [PlannedJob(name=name, targets=(name,)) for name in (ONE, TWO)]
    skipped = SkippedJob(name="gpu", targets=("t@cuda",), device="cuda", reason="no GPU runner")

    whole = merge_parts(folders(part(Shard(), targets=(ONE,))), planned(*jobs, skipped=(skipped,)))

    assert whole.missing == (Gap(f"shard 1/1 of {TWO}", "it has no result"),)


def test_a_merge_without_results_is_not_clean() -> None:
    assert merge_parts([]).missing


# --- buckets --------------------------------------------------------------------------------------


def test_a_bucket_of_two_shards_adds_counts_and_keeps_the_simpler_case() -> None:
    met = merged_run.buckets_of([part(FIRST, buckets=(CRASH,)), part(SECOND, buckets=(SIMPLER,))])

    assert [(b.fingerprint, b.count, b.finding) for b in met] == [
        (CRASH.fingerprint, 5, min(CRASH, SIMPLER, key=lambda b: len(repr(b.finding.case))).finding)
    ]


def confirmed(of: Bucket) -> Bucket:
    return replace(of, confirmation=Confirmation.CONFIRMED, shown=0, tried=0)


@pytest.mark.parametrize(
    ("one", "other", "together", "rate"),
    [
        (FLAKY, FLAKY, Confirmation.FLAKY, (2, 6)),
        (FLAKY, PENDING, Confirmation.FLAKY, (1, 3)),
        (PENDING, PENDING, Confirmation.PENDING, (0, 0)),
        (FLAKY, confirmed(FLAKY), Confirmation.CONFIRMED, (0, 0)),
        (PENDING, confirmed(FLAKY), Confirmation.CONFIRMED, (0, 0)),
    ],
)
def test_a_bucket_of_several_shards_has_all_their_targets(
    one: Bucket, other: Bucket, together: Confirmation, rate: tuple[int, int]
) -> None:
    for first, second in ((one, other), (other, one)):
        (met,) = merged_run.buckets_of(
            [part(FIRST, buckets=(first,)), part(SECOND, buckets=(second,))]
        )

        assert met.confirmation is together
        assert (met.shown, met.tried) == rate


def test_a_stream_is_explored_as_far_as_all_shards_are() -> None:
    far, less = StreamProgress(batches=40, learned=""), StreamProgress(batches=30, learned="")
    every = [part(FIRST, explored={STREAM: far}), part(SECOND, explored={STREAM: less})]

    assert merged_run.explored_by(every) == {STREAM: (less, 120.0)}
    assert merged_run.explored_by(every[:1]) == {}


def test_targets_add_up_and_disagreement_is_kept() -> None:
    other = target(ONE, version="1.1", confined_by=("landlock",), tally=Tally(passed=1, hung=2))

    (ran,) = merged_run.targets_of([part(ran=(target(ONE),)), part(ran=(other,))])

    assert ran.tally == Tally(passed=6, crashed=1, hung=2)
    assert (ran.version, ran.confined_by) == ("1.0, 1.1", ("landlock",))


# --- judging --------------------------------------------------------------------------------------


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return Config(
        out=tmp_path / "merged",
        baseline=tmp_path / "baseline",
        tracker=tmp_path / "issues",
    )


def judged(config: Config, tmp_path: Path, *every: Part) -> list[Event]:
    named = [written(tmp_path / f"shard-{number}", part) for number, part in enumerate(every)]
    return list(merge(gather(named, config)))


def end(events: list[Event]) -> RunFinished:
    last = events[-1]
    assert isinstance(last, RunFinished)
    return last


def standing(events: list[Event]) -> dict[str, Comparison]:
    return {b.fingerprint: b.comparison for b in end(events).buckets}


def known(config: Config, *buckets: Bucket) -> None:
    FolderStore(config.baseline).save(establish(buckets, SEEN))  # type: ignore[arg-type]


def test_later_shards_are_compared_with_the_baseline_of_merged_ones(
    config: Config, tmp_path: Path
) -> None:
    every = [part(FIRST, buckets=(CRASH,)), part(SECOND, buckets=(VALUES, FLAKY))]

    first = judged(config, tmp_path, *every)
    second = judged(config, tmp_path, *every)

    assert (end(first).verdict, end(first).exit_code) == (Verdict.ESTABLISHED, 0)
    assert (end(second).verdict, end(second).exit_code) == (Verdict.CLEAN, 0)
    assert standing(second) == {
        CRASH.fingerprint: Comparison.KNOWN,
        VALUES.fingerprint: Comparison.KNOWN,
        FLAKY.fingerprint: Comparison.FLAKY,
    }
    script = next(b.reproducer for b in end(first).buckets if b.fingerprint == CRASH.fingerprint)
    assert "planted.fragile(-1)" in (config.out / script).read_text("utf-8")


def test_documentation_that_another_part_contradicts_is_left_out() -> None:
    of_cube, of_double = (
        replace(DANGLING, check=DocumentationCheck.CHANGED_ALONE, api=f"planted.{name}")
        for name in ("cube", "double")
    )
    every = [part(FIRST, documentation=(of_cube, of_double)), part(SECOND, buckets=(VALUES,))]

    assert merged_run.documentation_of(every) == {"planted": (of_double,)}


def test_the_events_are_those_of_a_run(config: Config, tmp_path: Path) -> None:
    every = [part(FIRST, buckets=(CRASH, FLAKY), documentation=(DANGLING,)), part(SECOND)]

    events = judged(config, tmp_path, *every)

    opened = [e.bucket.fingerprint for e in events if isinstance(e, BucketOpened)]
    flaky = [e.bucket.fingerprint for e in events if isinstance(e, BucketFlaky)]
    read = [e.findings for e in events if isinstance(e, DocumentationChecked)]
    assert (opened, flaky) == ([CRASH.fingerprint], [FLAKY.fingerprint])
    assert read == [(DANGLING,)]
    assert end(events).apis_exercised == {ONE: 1, TWO: 1}
    assert {t.name: t.tally.total for t in end(events).targets} == {ONE: 12, TWO: 12}
    assert [part.shard for part in end(events).parts] == [FIRST, SECOND]


def test_a_missing_shard_never_passes_and_other_buckets_are_reported(
    config: Config, tmp_path: Path
) -> None:
    known(config, VALUES)

    events = judged(config, tmp_path, part(FIRST, buckets=(CRASH,)))

    assert (end(events).verdict, end(events).exit_code) == (Verdict.NOT_RUN, 3)
    assert "shard 2/2" in end(events).summary
    assert standing(events) == {
        CRASH.fingerprint: Comparison.NEW,
        VALUES.fingerprint: Comparison.NOT_RUN,
    }
    assert [e.target for e in events if isinstance(e, TargetUnavailable)] == [
        f"shard 2/2 of {ONE}, {TWO}"
    ]
    assert set(FolderStore(tmp_path / "baseline").load()) == {VALUES.fingerprint}


def test_a_new_bucket_fails_the_merge(config: Config, tmp_path: Path) -> None:
    known(config, VALUES)

    events = judged(config, tmp_path, part(FIRST, buckets=(CRASH,)), part(SECOND))

    assert (end(events).verdict, end(events).exit_code) == (Verdict.NEW_FINDINGS, 1)


def test_a_bucket_is_fixed_only_where_its_shard_replayed_it_on_all_its_targets(
    config: Config, tmp_path: Path
) -> None:
    known(config, CRASH, VALUES)
    passed = {CRASH.fingerprint: frozenset({ONE}), VALUES.fingerprint: frozenset({ONE})}

    events = judged(config, tmp_path, part(FIRST, replayed=passed), part(SECOND))

    assert standing(events) == {
        CRASH.fingerprint: Comparison.FIXED,
        VALUES.fingerprint: Comparison.NOT_RUN,
    }
    state = FolderStore(tmp_path / "baseline").load()[CRASH.fingerprint]
    assert (state.state, state.decision.clean_runs) == (State.OPEN, 1)


def test_a_difference_between_rows_is_not_fixed_by_separate_runs(
    config: Config, tmp_path: Path
) -> None:
    known(config, VALUES)
    rows = [
        part(
            Shard(),
            targets=(name,),
            ran=(target(name),),
            replayed={VALUES.fingerprint: frozenset({name})},
        )
        for name in (ONE, TWO)
    ]

    assert standing(judged(config, tmp_path, *rows)) == {VALUES.fingerprint: Comparison.NOT_RUN}


def test_a_bucket_of_the_base_is_known_and_not_written(config: Config, tmp_path: Path) -> None:
    head = bucket(crash("checked", target=TWO))
    row = part(
        Shard(),
        targets=(TWO,),
        base=(ONE,),
        buckets=(CRASH, head),
        shown_on={CRASH.fingerprint: frozenset({(ONE,), (TWO,)})},
    )

    events = judged(config, tmp_path, row)

    assert standing(events) == {
        CRASH.fingerprint: Comparison.KNOWN,
        head.fingerprint: Comparison.NEW,
    }
    assert end(events).exit_code == 1
    assert not (tmp_path / "baseline").exists()


def test_shards_with_different_versions_are_reported(config: Config, tmp_path: Path) -> None:
    newer = part(SECOND, ran=(target(ONE, version="1.1"), target(TWO)))

    events = judged(config, tmp_path, part(FIRST), newer)

    warnings = [event.message for event in events if isinstance(event, Warned)]
    assert warnings == [f"{ONE}: the shards ran different versions: 1.0, 1.1"]


def test_planted_defects_of_all_parts_are_judged_together(config: Config, tmp_path: Path) -> None:
    known(config)
    every = [part(FIRST, detection=DETECTION), part(SECOND, detection=DETECTION)]

    passed = judged(config, tmp_path, *every)
    blind = judged(replace(config, min_detection=60), tmp_path, *every)

    detection = end(passed).detection
    assert detection is not None
    assert (detection.planted, len(detection.caught)) == (4, 2)
    assert (end(passed).verdict, end(blind).verdict) == (Verdict.CLEAN, Verdict.NOT_RUN)
    assert [run.caught for run in read_runs(tmp_path / "baseline")] == [2]


def test_drawn_values_of_all_parts_are_added(config: Config, tmp_path: Path) -> None:
    known(config)
    values = ValueTable()
    values.note([("int", "negative")], has_passed=True)

    events = judged(config, tmp_path, part(FIRST, values=values), part(SECOND, values=values))

    total = end(events).values
    assert total is not None
    assert (total.calls, total.passed["int", "negative"]) == (2, 2)


def test_parts_of_an_earlier_version_have_no_planted_defects(
    config: Config, tmp_path: Path
) -> None:
    known(config)

    events = judged(config, tmp_path, part(FIRST), part(SECOND))

    assert (end(events).detection, end(events).verdict) == (None, Verdict.CLEAN)
    assert end(events).values is None
