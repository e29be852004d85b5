"""What a run reports of a group's targets by the outcomes of their cases."""

from __future__ import annotations

from dataclasses import replace

import pytest
from campaign_examples import call, difference, finding, group, member

from ciguard.campaign.group import is_for_modes, subject_of
from ciguard.domain.findings import PairKind
from ciguard.domain.graphs import GraphCase
from ciguard.domain.intent import Intent
from ciguard.domain.outcomes import Crashed, Passed
from ciguard.libraries import LIBRARIES, NO_KERNEL
from ciguard.oracles import judge
from ciguard.targets import GUARDED

ONE, OTHER = "ciguard-planted==1.0", "ciguard-planted==1.0@cuda"


@pytest.mark.parametrize(
    ("unbuilt", "cases", "warned"),
    [(300, 400, [OTHER]), (40, 400, []), (150, 150, [])],
    ids=["most", "a few types less", "too few cases"],
)
def test_a_target_that_fails_to_build_many_arguments_is_reported(
    unbuilt: int, cases: int, warned: list[str]
) -> None:
    tested = group(member(ONE), member(OTHER))
    on_cpu, on_device = tested.members.values()
    on_device.identity = replace(on_device.identity, device="cuda:0")
    on_cpu.cases_run, on_cpu.unbuilt = 400, 10
    on_device.cases_run, on_device.unbuilt = cases, unbuilt

    assert [text.partition(": ")[0] for text in tested.unbuilt_warnings()] == warned


def test_notes_on_devices_are_those_of_all_targets() -> None:
    api = "planted.fragile"
    tested = group(member(ONE, api), member(OTHER, api), member("ciguard-planted==2.0"))
    on_device = tested.members[OTHER]
    noted = replace(on_device.catalogue[api], on_devices=frozenset({NO_KERNEL}))
    on_device.catalogue = {api: noted}

    assert tested.subject(api).on_devices == {NO_KERNEL}
    assert tested.subject("planted.fold").on_devices == frozenset()


def test_versions_on_one_device_are_not_compared() -> None:
    tested = group(member(ONE), member(OTHER))
    for tested_member, unbuilt in zip(tested.members.values(), (10, 300), strict=True):
        tested_member.cases_run, tested_member.unbuilt = 400, unbuilt

    assert list(tested.unbuilt_warnings()) == []


@pytest.mark.parametrize(
    ("name", "lost", "is_warned"),
    [(OTHER, 0, False), (OTHER, 30, True), (OTHER, 8, False), (ONE, 30, False)],
    ids=["works", "fails for 480 cases", "fails for 128 cases", "a CPU"],
)
def test_a_device_that_fails_for_a_while_is_reported_also_beside_its_like(
    name: str, lost: int, *, is_warned: bool
) -> None:
    tested = group(member(name), member(f"{name} A=1"))
    for one in tested.members.values():
        device = "cuda" if name == OTHER else "cpu"
        one.identity = replace(one.identity, device=device)
        for batch in range(1000):
            one.count_unbuilt(16 if 500 <= batch < 500 + lost else 1, cases=16)

    warnings = list(tested.unbuilt_warnings())

    assert bool(warnings) is is_warned
    assert all("for a while, " in text and "docs/gpu.md" in text for text in warnings)


def test_stored_cases_run_on_guarded_targets_too_but_are_attributed_among_equals() -> None:
    tested = group(member(ONE, "planted.fragile"), member(OTHER, "planted.fragile"))
    guarded = tested.members[OTHER]
    guarded.identity = replace(guarded.identity, mode=GUARDED)
    violating = replace(call(), intent=Intent.VIOLATING)

    assert tested.targets_for(call()) == tested.targets_for(violating) == [ONE, OTHER]
    assert tested.running_eagerly == (ONE,)
    assert tested.subject("planted.fragile").guarded == {OTHER}
    silent = finding(Crashed("out-of-bounds read"), target=OTHER)
    assert tested.targets_like(silent) == [OTHER]
    assert tested.targets_like(finding(Crashed("SIGSEGV"))) == [ONE]


def test_the_cheapest_target_does_not_compile_each_shape() -> None:
    tested = group(member(ONE), member(OTHER))
    compiled, plain = tested.members.values()
    compiled.identity = replace(compiled.identity, engine="jax")
    plain.identity = replace(plain.identity, engine="torch")

    assert tested.cheapest([ONE, OTHER]) == [OTHER]
    assert tested.cheapest([ONE]) == [ONE]
    assert tested.cheapest([]) == []


THIRD = "ciguard-planted==3.0"


def test_the_odd_first_target_of_three_deviates_also_when_two_run_the_case_again() -> None:
    tested = group(member(ONE), member(OTHER), member(THIRD))
    for backend in tested.members.values():
        backend.identity = replace(backend.identity, device="cpu", packages=(backend.name,))
    one, two = Passed(b'["i","1"]', 0.1), Passed(b'["i","2"]', 0.1)
    case = call("cube")
    outcomes = {ONE: one, OTHER: two, THIRD: two}

    (found,) = judge(case, outcomes, tested.subject(case.api))
    again = judge(case, found.outcomes, subject_of({"planted": tested}, found))

    assert found.targets == (OTHER, ONE)
    assert [other.targets for other in again] == [found.targets]


def test_all_targets_keep_their_order_for_findings_without_a_reference() -> None:
    tested = group(member(ONE), member(OTHER), member(THIRD))
    crashed = finding(Crashed("SIGSEGV"), target=OTHER)
    differing = replace(difference(), targets=(OTHER, ONE), pair=PairKind.BACKEND)

    assert list(subject_of({"planted": tested}, crashed).targets) == [ONE, OTHER, THIRD]
    assert list(subject_of({"planted": tested}, differing).targets) == [OTHER, ONE, THIRD]


def test_graphs_with_special_numbers_run_in_modes_unlike_calls() -> None:
    special = replace(call("torch.exp"), intent=Intent.SPECIAL)
    graph_of_call = GraphCase(api="torch.exp", steps=(call("torch.exp"),), outputs=(0,))

    assert not is_for_modes(special)
    assert is_for_modes(replace(graph_of_call, is_special=True))


def test_every_target_can_index_tensors() -> None:
    tested = replace(group(member("torch==2.13.0", "torch.exp")), library="torch")
    (only,) = tested.members.values()
    only.environment = replace(only.environment, library=LIBRARIES.get("torch"))

    assert tested.targets_with("torch.Tensor.__getitem__") == ["torch==2.13.0"]
    assert tested.targets_with("torch.Tensor.__len__") == []
