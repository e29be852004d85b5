"""Whole campaigns on the planted device: with itself, with the CPU, and with a second device."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from ciguard_planted import device_adapter
from surroundings import programs_without

from ciguard.campaign import run
from ciguard.config import Config
from ciguard.domain.events import Event, RunFinished, TargetUnavailable, Warned
from ciguard.domain.findings import Bucket, Confirmation, PairKind, Severity
from ciguard.libraries import LIBRARIES
from ciguard.targets import drivers

CPU, FIRST, SECOND = (f"current[planted]{device}" for device in ("", "@cuda", "@cuda:1"))
DRIVER = (
    "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159.03  Tue Jan  7 20:11:19 UTC 2026\n"
)

Campaign = Callable[..., list[Event]]


@pytest.fixture
def campaign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Campaign:
    """Run a campaign on the planted device, for which there is a driver."""
    monkeypatch.setenv("VIRTUAL_ENV", sys.prefix)
    monkeypatch.setenv("PATH", str(programs_without("gdb")))
    monkeypatch.setenv("CIGUARD_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    version = tmp_path / "version"
    version.write_text(DRIVER, encoding="utf-8")
    monkeypatch.setattr(drivers, "VERSION_FILE", version)
    library = replace(LIBRARIES.get("planted"), adapter=Path(device_adapter.__file__))
    monkeypatch.setitem(LIBRARIES._items, "planted", library)

    def started(*targets: str, **changes: Any) -> list[Event]:
        settings: dict[str, Any] = {
            "targets": targets,
            "budget_s": 120.0,
            "max_cases": 150,
            "jobs": 1,
            "memory_mib": 256,
            "out": tmp_path / "run",
            "baseline": tmp_path / "baseline",
            **changes,
        }
        return list(run(Config(**settings)))

    return started


def buckets_of(events: list[Event]) -> tuple[Bucket, ...]:
    last = events[-1]
    assert isinstance(last, RunFinished)
    unavailable = [event for event in events if isinstance(event, TargetUnavailable)]
    assert not unavailable
    return last.buckets


def shown(buckets: tuple[Bucket, ...]) -> set[tuple[str, str]]:
    return {(one.finding.api.rpartition(".")[2], one.finding.oracle) for one in buckets}


def test_a_device_does_not_differ_from_itself(campaign: Campaign) -> None:
    events = campaign(FIRST, FIRST)

    buckets = buckets_of(events)
    assert shown(buckets) == {("far", "crash"), ("misconfigured", "internal-error")}
    assert {one.confirmation for one in buckets} == {Confirmation.CONFIRMED}
    assert not [event for event in events if isinstance(event, Warned)]


def test_a_device_differs_from_the_cpu_only_where_it_matters(campaign: Campaign) -> None:
    buckets = buckets_of(campaign(CPU, FIRST))

    faults = {("far", "crash"), ("misconfigured", "internal-error")}
    assert shown(buckets) == {*faults, ("hosted", "differential")}
    severities = {one.finding.api: one.finding.severity for one in buckets}
    assert severities["planted.device.hosted"] is Severity.INFO


def test_results_that_the_documentation_leaves_open_are_not_compared_on_devices(
    campaign: Campaign,
) -> None:
    noted = ("planted.device.put", "planted.device.largest", "planted.device.hosted")

    events = campaign(FIRST, SECOND, api=noted)

    assert buckets_of(events) == ()
    last = events[-1]
    assert isinstance(last, RunFinished)
    assert all(target.tally.passed > 10 for target in last.targets)


def test_two_devices_are_compared_and_the_script_names_the_second(
    campaign: Campaign, tmp_path: Path
) -> None:
    buckets = buckets_of(campaign(FIRST, SECOND, api=("planted.device.worn",)))

    (worn,) = buckets
    assert (worn.finding.pair, worn.finding.targets) == (PairKind.DEVICE, (FIRST, SECOND))
    assert worn.confirmation is Confirmation.CONFIRMED
    assert worn.reproduced
    script = tmp_path / "run" / worn.reproducer
    for visible, code in {None: 1, "0,1": 1, "0": 0}.items():
        surroundings = {} if visible is None else {"CUDA_VISIBLE_DEVICES": visible}
        environment = {"PATH": os.environ["PATH"], **surroundings}
        ended = subprocess.run([sys.executable, script], env=environment, check=False)
        assert ended.returncode == code, visible
