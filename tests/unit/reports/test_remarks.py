from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import unquote

from hypothesis import given
from hypothesis import strategies as st

from ciguard.domain.findings import Verdict
from ciguard.domain.plan import Place, Plan
from ciguard.domain.policy import Policy
from ciguard.domain.remarks import Remark, RemarkLevel
from ciguard.reports.places import Places
from ciguard.reports.remarks import remarks, workflow_commands

if TYPE_CHECKING:
    from collections.abc import Callable

    from ciguard.domain.events import RunFinished

COMMAND = re.compile(r"::(\w+) ([^:]*)::(.*)")


def read(command: str) -> tuple[str, dict[str, str], str]:
    """Return level, properties and message of a workflow command, parsed as the runner does."""
    found = COMMAND.fullmatch(command)
    assert found is not None, command
    stated = dict(part.split("=", 1) for part in found[2].split(","))
    return found[1], {key: unquote(text) for key, text in stated.items()}, unquote(found[3])


def test_every_new_bucket_is_a_remark_ordered_by_level(
    finished: Callable[..., RunFinished], plan: Plan
) -> None:
    shown_remarks = remarks(finished(targets=()), Places(plan=plan), Policy())

    assert [remark.level for remark in shown_remarks].count(RemarkLevel.ERROR) == 11
    assert shown_remarks[0].title == "NEW crash: tf.raw_ops.MaxPool3D"
    assert shown_remarks[0].place == Place(path="model/net.py", line=12)
    assert "ciguard reproduce abcd0001" in shown_remarks[0].message
    assert [remark.title for remark in shown_remarks if remark.level is RemarkLevel.NOTICE] == [
        "NEW change of behaviour: torch.add",
        "ciguard",
    ]


def test_run_that_establishes_the_baseline_has_no_bucket_remarks(
    finished: Callable[..., RunFinished],
) -> None:
    shown_remarks = remarks(finished(verdict=Verdict.ESTABLISHED), Places(), Policy())

    assert {remark.title for remark in shown_remarks} == {"ciguard"}


def test_remarks_beyond_githubs_limit_are_counted_in_the_last_one() -> None:
    many = [
        Remark(level=level, title=f"t{number}", message="m")
        for level in RemarkLevel
        for number in range(14)
    ]

    commands = [read(command) for command in workflow_commands(many)]

    assert [kind for kind, _, _ in commands] == ["error"] * 10 + ["warning"] * 10 + ["notice"] * 10
    assert commands[8][1]["title"] == "t8"
    assert (
        commands[9][2]
        == "5 more findings are not shown here, because GitHub limits annotations: see the summary."
    )


def test_ten_remarks_of_a_level_are_shown() -> None:
    ten = [Remark(level=RemarkLevel.ERROR, title=f"t{n}", message="m") for n in range(10)]

    assert [read(command)[1]["title"] for command in workflow_commands(ten)] == [
        f"t{n}" for n in range(10)
    ]


@given(
    title=st.text(max_size=60),
    message=st.text(max_size=60).map(lambda text: text * 100),
    path=st.text(max_size=60),
)
def test_workflow_command_is_a_single_line_of_bounded_length(
    title: str, message: str, path: str
) -> None:
    remark = Remark(
        level=RemarkLevel.ERROR,
        title=title,
        message=message,
        place=Place(path=path, line=3),
    )

    (command,) = workflow_commands([remark])

    assert len(command.splitlines()) <= 1 or not set("\r\n") & set(command)
    assert len(command) <= 4_096 + 20
    kind, stated, _ = read(command)
    assert kind == "error"
    assert set(stated) == {"file", "line", "title"}
    assert stated["line"] == "3"


def test_paths_of_this_machine_are_not_published(finished: Callable[..., RunFinished]) -> None:
    lost = replace(finished().targets[3], not_run="no driver in /home/somebody/secret/driver.so")

    shown_remarks = remarks(finished(targets=(lost,)), Places(), Policy())

    assert any("driver.so" in remark.message for remark in shown_remarks)
    assert not any("somebody" in remark.message for remark in shown_remarks)
