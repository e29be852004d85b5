from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Self, cast

import pytest
from campaign_examples import ONE, TWO, bucket, call, crash, difference, finding, member
from program_examples import positive

from ciguard.campaign.script_checks import check_scripts, fails_alike
from ciguard.campaign.scripts import (
    file_name,
    remote_script_target,
    script_targets_of,
    shown_on,
    write_scripts,
)
from ciguard.campaign.setup import summary
from ciguard.domain.app_runs import AppCase, Aspect
from ciguard.domain.events import Warned
from ciguard.domain.findings import Bucket, Confirmation
from ciguard.domain.outcomes import (
    Crashed,
    Errored,
    Exhausted,
    Hung,
    Outcome,
    Passed,
    Rejected,
    Resource,
)
from ciguard.domain.values import Explicit, TensorValue
from ciguard.errors import OutputError
from ciguard.execution import ScriptResult

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence
    from pathlib import Path

    from ciguard.domain.events import Event
    from ciguard.execution import Dispatcher

DEAD = Crashed("SIGSEGV")
ENDED = ScriptResult(0, None, "")
RAISED = ScriptResult(1, None, "SystemError: slot 7")


@dataclass
class FakeDispatcher:
    """A dispatcher that returns prepared results of scripts."""

    differs_on: tuple[str, ...]
    ran: list[str] = field(default_factory=list)

    def tasks(self, target: str) -> Self:
        self.ran.append(target)
        return self

    def run_scripts(self, scripts: Sequence[tuple[str, float]]) -> list[ScriptResult]:
        ((text, limit_s),) = scripts
        assert "EXPECTED" in text or "CUDA_LAUNCH_BLOCKING" in text
        assert limit_s > 0
        if self.ran[-1] in self.differs_on:
            return [ScriptResult(1, None, "DIFFERENT: 1 is not 2")]
        return [ScriptResult(0, None, "No difference.")]


def result_of(trial: Generator[Event, None, list[Bucket]]) -> tuple[list[Event], list[Bucket]]:
    events = []
    while True:
        try:
            events.append(next(trial))
        except StopIteration as end:
            return events, cast("list[Bucket]", end.value)


@pytest.mark.parametrize(
    ("differs_on", "confirmation", "reproduced"),
    [
        ((TWO,), Confirmation.CONFIRMED, True),
        ((ONE, TWO), Confirmation.FLAKY, False),
        ((), Confirmation.FLAKY, False),
    ],
    ids=["as it should", "on the reference too", "nowhere"],
)
def test_a_difference_is_flaky_unless_its_script_shows_it_on_one_target_only(
    differs_on: tuple[str, ...], confirmation: Confirmation, *, reproduced: bool
) -> None:
    dispatcher = FakeDispatcher(differs_on)
    met = replace(bucket(difference()), reproducer="reproducers/x.py")
    trial = check_scripts(
        [met],
        {name: member(name) for name in (ONE, TWO)},
        cast("Dispatcher", dispatcher),
        until=time.monotonic() + 60.0,
        case_limit_s=1.0,
    )

    events, (tried,) = result_of(trial)

    assert tried.confirmation is confirmation
    assert tried.reproduced is reproduced
    assert [type(event) for event in events] == [Warned] * (confirmation is Confirmation.FLAKY)
    assert dispatcher.ran == ([TWO, ONE] if differs_on else [TWO])


def test_a_race_that_a_synchronous_script_hides_stays_confirmed() -> None:
    lost = finding(Crashed("CUDA illegal memory access"), target=TWO)
    met = replace(bucket(lost), reproducer="reproducers/x.py")
    trial = check_scripts(
        [met],
        {TWO: member(TWO)},
        cast("Dispatcher", FakeDispatcher(())),
        until=time.monotonic() + 60.0,
        case_limit_s=1.0,
    )

    events, (tried,) = result_of(trial)

    assert lost.loses_device
    assert (tried.confirmation, tried.reproduced) == (Confirmation.CONFIRMED, False)
    assert events == []


HANG = "Timeout (0:00:20)!\nThread 0x7f (most recent call first):\n"
CALLED = "Calling. If no output follows, the call has ended the process.\n"


@pytest.mark.parametrize(
    ("outcome", "result", "alike"),
    [
        (Hung(20.0), ScriptResult(1, None, HANG), True),
        (Hung(20.0), ScriptResult(0, None, "The defect did not show."), False),
        (Hung(20.0), ScriptResult(1, None, "KeyError: 'odd'"), False),
        (Hung(20.0), ScriptResult(None, Hung(180.0), ""), False),
        (Crashed("exit"), ScriptResult(3, Crashed("exit 3"), CALLED), True),
        (Crashed("exit"), ScriptResult(0, None, CALLED), True),
        (Crashed("exit"), ScriptResult(0, None, f"{CALLED}The defect did not show."), False),
        (Crashed("exit"), ScriptResult(1, None, f"{CALLED}Traceback (most recent…"), False),
        (Crashed("exit"), ScriptResult(1, None, "Traceback (most recent call last)"), False),
    ],
)
def test_a_script_of_an_application_fails_like_its_finding(
    outcome: Outcome, result: ScriptResult, *, alike: bool
) -> None:
    case = AppCase(api="a.py:a.f", file="a.py", root=".", aspect=Aspect.ANSWER)
    assert fails_alike(bucket(replace(finding(outcome), case=case)), result) is alike


@pytest.mark.parametrize(
    ("outcome", "result", "alike"),
    [
        (DEAD, ScriptResult(None, DEAD, ""), True),
        (DEAD, ScriptResult(None, Crashed("SIGABRT"), ""), True),
        (DEAD, ScriptResult(None, Hung(5.0), ""), False),
        (DEAD, RAISED, False),
        (DEAD, ENDED, False),
        (Crashed("exit 3"), ScriptResult(3, Crashed("exit 3"), ""), True),
        (Hung(5.0), ScriptResult(None, Hung(15.0), ""), True),
        (Hung(5.0), ENDED, False),
        (Exhausted(Resource.MEMORY, was_killed=True), ScriptResult(None, DEAD, ""), False),
        (
            Exhausted(Resource.MEMORY, was_killed=True),
            ScriptResult(None, Exhausted(Resource.MEMORY, was_killed=True), ""),
            True,
        ),
        (Errored("SystemError", "slot 9"), RAISED, True),
        (Errored("AssertionError", ""), RAISED, False),
        (Errored("SystemError", "slot 9"), ENDED, False),
        (Rejected("ValueError", "no"), RAISED, True),
        (Rejected("ValueError", "no"), ENDED, False),
    ],
)
def test_a_script_fails_like_its_finding(
    outcome: Outcome, result: ScriptResult, *, alike: bool
) -> None:
    assert fails_alike(bucket(finding(outcome)), result) is alike


@pytest.mark.parametrize(
    ("result", "alike"),
    [
        (ScriptResult(1, None, "DIFFERENT: 1 vs 2"), True),
        (ScriptResult(1, None, "Traceback: ImportError"), False),
        (ScriptResult(0, None, "as expected"), False),
        (ScriptResult(None, DEAD, "DIFFERENT"), False),
    ],
)
def test_a_difference_is_shown_by_the_scripts_own_comparison(
    result: ScriptResult, *, alike: bool
) -> None:
    assert fails_alike(bucket(difference()), result) is alike


@pytest.mark.parametrize(
    "api", ["planted.fragile", "../../etc/passwd", "a/b\x00c", "-rf", "x" * 500, "planted.übung"]
)
def test_a_file_name_has_safe_characters_only(api: str) -> None:
    met = finding(DEAD, case=call(api.removeprefix("planted.")))

    name = file_name(bucket(met))

    assert name.endswith(".py")
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-")
    assert not name.startswith((".", "-"))
    assert len(name) < 120


def written(buckets: list[Bucket], out: Path) -> list[Bucket]:
    return list(
        write_scripts(buckets, script_targets_of({ONE: member(ONE), TWO: member(TWO)}), out)
    )


def test_only_confirmed_buckets_get_a_script_which_compiles(tmp_path: Path) -> None:
    confirmed = bucket(crash())
    pending = bucket(crash("checked"), confirmation=Confirmation.PENDING)

    first, second = written([confirmed, pending], tmp_path)

    assert second == pending
    assert first.reproducer == f"reproducers/{file_name(confirmed)}"
    text = (tmp_path / first.reproducer).read_text("utf-8")
    compile(text, first.reproducer, "exec")
    assert "planted.fragile(-1)" in text


def test_a_case_that_cannot_be_written_as_a_script_keeps_the_other_scripts(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    malformed = TensorValue("float32", (2,), Explicit((1.0,)))
    case = replace(call(), arguments=(malformed,))
    hostile, sound = bucket(replace(crash(), case=case)), bucket(crash("cube"))

    without, with_script = written([hostile, sound], tmp_path)

    assert without.reproducer == ""
    assert (tmp_path / with_script.reproducer).is_file()
    assert "no script can be written" in caplog.text


def test_a_folder_that_cannot_be_written_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "reproducers").write_text("a file", "utf-8")

    with pytest.raises(OutputError, match="reproducers: cannot be written"):
        written([bucket()], tmp_path)


def test_a_script_names_the_packages_to_install() -> None:
    script_targets = script_targets_of({ONE: member(ONE), TWO: member(TWO)})

    assert script_targets[ONE].hint.install == ("ciguard-planted==1.0",)
    assert script_targets[TWO].hint.variables == (("PLANTED_VERSION", "2.0"),)


def test_a_script_of_another_machine_names_target_and_version() -> None:
    here = script_targets_of({TWO: member(TWO)})[TWO]
    elsewhere = remote_script_target(summary(member(TWO)))
    unreadable = replace(summary(member(TWO)), name="no such @@ target")

    assert elsewhere == here
    assert remote_script_target(unreadable).hint.install == ("no such @@ target",)


@pytest.mark.parametrize(
    ("result", "alike"),
    [
        (ScriptResult(1, None, "returned: 3\nACCEPTED: against …"), True),
        (ScriptResult(1, None, "ValueError: how"), False),
        (ENDED, False),
    ],
)
def test_a_rejected_script_does_not_reproduce_an_accepted_argument(
    result: ScriptResult, *, alike: bool
) -> None:
    accepted = finding(Passed(b'["i","3"]', 0.1))
    taken = replace(accepted, oracle="boundary", kind="accepted-illegal", detail="how: member")

    assert fails_alike(bucket(taken), result) is alike


@pytest.mark.parametrize(
    ("oracle", "kind", "log", "alike"),
    [
        ("differential", "refused", "Traceback …\nValueError: no", True),
        ("differential", "refused", "Traceback …\nKeyError: 'x'", False),
        ("differential", "shape", "DIFFERENT: x is …", True),
        ("differential", "shape", "Traceback …\nValueError: no", False),
        ("derivation", "accepted-illegal", "ACCEPTED: against …", True),
        ("derivation", "accepted-illegal", "ValueError: no", False),
        ("growth", "memory-grows", "cycle 1: …\nGROWS: bytes …", True),
        ("growth", "memory-grows", "MemoryError", False),
    ],
)
def test_a_script_of_a_program_fails_like_its_finding(
    oracle: str, kind: str, log: str, *, alike: bool
) -> None:
    met = replace(
        finding(Passed(b"null", 0.1)),
        case=positive(),
        oracle=oracle,
        kind=kind,
        detail="ValueError",
    )

    assert fails_alike(bucket(met), ScriptResult(1, None, log)) is alike
    assert not fails_alike(bucket(met), ENDED)


def test_a_defect_without_a_mode_is_shown_eagerly() -> None:
    eager, traced = member(ONE), member(TWO)
    traced.identity = replace(traced.identity, mode="trace")
    script_targets = script_targets_of({ONE: eager, TWO: traced})
    died = replace(crash(), targets=(ONE, TWO))

    assert shown_on(died, script_targets) == ONE
    assert shown_on(replace(died, targets=(TWO,)), script_targets) == TWO
    assert shown_on(difference(), script_targets) == TWO


def test_a_script_runs_on_the_single_visible_gpu() -> None:
    second = replace(summary(member(TWO)), name="torch==2.13.0@cuda:1", library="torch")

    hint = remote_script_target(second).hint

    assert (hint.device, hint.gpu) == ("cuda:0", 1)
    assert ("NVIDIA_TF32_OVERRIDE", "0") in hint.variables


def test_a_script_of_mode_tf32_computes_with_tf32() -> None:
    target = replace(summary(member(TWO)), name="torch==2.13.0@cuda tf32", library="torch")

    variables = dict(remote_script_target(target).hint.variables)

    assert variables["TORCH_ALLOW_TF32_CUBLAS_OVERRIDE"] == "1"
    assert "NVIDIA_TF32_OVERRIDE" not in variables


def test_a_script_selects_the_backend_of_the_target() -> None:
    jax = replace(summary(member(TWO)), name="keras==3.15.1 + jax", library="keras")

    assert ("KERAS_BACKEND", "jax") in remote_script_target(jax).hint.variables
