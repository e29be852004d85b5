"""Links between buckets of one native fault."""

from __future__ import annotations

from dataclasses import replace

from finding_examples import call, crash
from hypothesis import given
from hypothesis import strategies as st

from ciguard.domain import Bucket, Frame
from ciguard.triage import fingerprint, relate
from ciguard.triage.related import faults_of

POOL = (Frame("libt.so", "pool_kernel"), Frame("libt.so", "pool"))
CHECK = "F0000 00:00:1.5 1 tensor.cc:1] Check failed: dtype() == expected (1 vs. 2)"


def bucket(api: str, *, stack: tuple[Frame, ...] = (), log: str = "") -> Bucket:
    met = crash(log, cause="SIGABRT" if log else "SIGSEGV", case=call(api=api))
    name = fingerprint(met)
    return Bucket(fingerprint=name.key, grouping=name.grouping, finding=met, native_stack=stack)


def links(*buckets: Bucket) -> list[bool]:
    return [bool(one.related) for one in relate(buckets)]


def test_two_wrappers_of_one_native_fault_are_linked_both_ways() -> None:
    one, other, third = relate(
        [
            bucket("torch.pool", stack=POOL),
            bucket("torch.nn.Pool", stack=POOL),
            bucket("torch.fold", stack=(Frame("libt.so", "fold"),)),
        ]
    )

    assert one.related == (other.fingerprint,)
    assert other.related == (one.fingerprint,)
    assert third.related == ()


def test_the_same_check_links_where_no_debugger_told_more() -> None:
    assert links(bucket("torch.a", log=CHECK), bucket("torch.b", log=CHECK)) == [True, True]


def test_stacks_that_differ_part_what_the_same_check_would_link() -> None:
    one = bucket("torch.a", log=CHECK, stack=POOL)
    other = bucket("torch.b", log=CHECK, stack=(POOL[0], Frame("libt.so", "other")))

    assert links(one, other) == [False, False]


def test_buckets_of_one_api_are_never_linked() -> None:
    one = bucket("torch.a", stack=POOL)
    other = replace(one, fingerprint="v1:" + "0" * 16)

    assert links(one, other) == [False, False]


def test_corrupted_memory_without_a_stack_is_linked_with_nothing() -> None:
    assert links(bucket("torch.a"), bucket("torch.b")) == [False, False]


def test_the_fingerprint_does_without_native_frames() -> None:
    assert bucket("torch.a").fingerprint == bucket("torch.a", stack=POOL).fingerprint


PATHS = st.sampled_from([(), POOL, (POOL[0], Frame("libt.so", "other"))])
FAULTS = st.lists(st.tuples(st.integers(0, 130), PATHS, st.booleans()), max_size=160)


@given(FAULTS)
def test_links_are_the_first_of_all_that_share_a_fault_and_contradict_no_stack(
    faults: list[tuple[int, tuple[Frame, ...], bool]],
) -> None:
    buckets = [
        replace(
            bucket(f"torch.f{api}", stack=stack, log=CHECK if has_check else ""),
            fingerprint=f"v1:{number:016x}",
        )
        for number, (api, stack, has_check) in enumerate(faults)
    ]

    for related in relate(buckets):
        assert (
            related.related
            == tuple(
                other.fingerprint
                for other in buckets
                if other.finding.api != related.finding.api
                and set(faults_of(other)) & set(faults_of(related))
                and not (
                    other.native_stack
                    and related.native_stack
                    and other.native_stack != related.native_stack
                )
            )[:50]
        )
