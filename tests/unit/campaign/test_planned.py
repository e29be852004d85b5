from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest
from campaign_examples import group, member
from hypothesis import given
from hypothesis import strategies as st

from ciguard.campaign.planned import apply_plan, focus_warning, row_warning
from ciguard.config import Config
from ciguard.domain.plan import Plan, PlanMode, PlannedJob, plan_to_json
from ciguard.errors import ConfigurationError


def _written(folder: Path, **changes: object) -> Config:
    path = folder / "plan.json"
    data = plan_to_json(Plan(mode=PlanMode.PULL_REQUEST, focus=("torch.abs", "torch.nn.*")))
    assert isinstance(data, dict)
    path.write_text(json.dumps({**data, **changes}), "utf-8")
    return Config(plan=str(path), focus=("torch.sin", "torch.abs"))


def test_without_a_plan_the_settings_stay_as_they_are() -> None:
    assert apply_plan(Config(focus=("a",))) == (None, Config(focus=("a",)))


def test_the_focus_of_the_settings_comes_before_that_of_the_plan(tmp_path: Path) -> None:
    plan, config = apply_plan(_written(tmp_path))

    assert plan is not None
    assert plan.mode is PlanMode.PULL_REQUEST
    assert config.focus == ("torch.sin", "torch.abs", "torch.nn.*")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"schema": 9}, "schema 9"),
        ({"focus": ["x"] * 10_001}, "more than 10000"),
        ({"focus": ["*a" * 9]}, "not a valid glob"),
        ({"focus": ["x" * 301]}, "not a valid glob"),
        ({"focus": [" "]}, "not a valid glob"),
    ],
)
def test_a_plan_with_an_invalid_focus_is_refused(
    tmp_path: Path, changes: dict[str, object], said: str
) -> None:
    with pytest.raises(ConfigurationError, match=said):
        apply_plan(_written(tmp_path, **changes))


@pytest.mark.parametrize("content", [b"", b"[", b"[" * 100_000, b"\xff", b"null", b'{"schema": 1}'])
def test_a_file_that_is_not_a_plan_is_refused_with_a_remedy(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "plan.json").write_bytes(content)

    with pytest.raises(ConfigurationError, match=r"--plan .*not a plan: .*`ciguard plan`"):
        apply_plan(Config(plan=str(tmp_path / "plan.json")))


def test_a_missing_file_and_a_link_are_refused(tmp_path: Path) -> None:
    (tmp_path / "link.json").symlink_to("/etc/passwd")

    for name in ("missing.json", "link.json"):
        with pytest.raises(ConfigurationError, match="cannot be read"):
            apply_plan(Config(plan=str(tmp_path / name)))


@given(st.binary() | st.text().map(str.encode))
def test_any_file_is_a_plan_or_refused(content: bytes) -> None:
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        Path(file.name).write_bytes(content)
        try:
            apply_plan(Config(plan=file.name))
        except ConfigurationError as error:
            assert "not a plan" in str(error)  # noqa: PT017 - both answers are right


def test_unmatched_globs_of_the_focus_are_reported_in_one_warning() -> None:
    groups = {"planted": group(member("current[planted]", "planted.add", "planted.mul"))}
    lost = tuple(f"torch.f{number}" for number in range(7))

    warnings = list(focus_warning(groups, Config(focus=("planted.add", *lost, "evil\n::x"))))

    (message,) = [warning.message for warning in warnings]
    assert message.startswith("focus: 8 of 9 globs match no tested API: torch.f0, torch.f1")
    assert message.endswith("torch.f4, and 3 more")
    assert list(focus_warning(groups, Config(focus=("planted.*",)))) == []


def test_names_of_a_plan_are_printed_on_one_line() -> None:
    groups = {"planted": group(member("current[planted]", "planted.add"))}

    (warning,) = focus_warning(groups, Config(focus=("evil\n::error::x",)))

    assert "\n" not in warning.message


def test_a_run_on_targets_of_no_row_of_the_plan_warns() -> None:
    row = PlannedJob(name="a", targets=("torch==2.13.0",), base=("torch==2.12.0",))
    plan = Plan(mode=PlanMode.PULL_REQUEST, jobs=(row,))

    (warning,) = row_warning(plan, Config(targets=("torch==2.13.0",)))

    assert "no row of the plan has the targets torch==2.13.0" in warning.message
    for fitting in (plan, None, Plan(mode=PlanMode.BATCH)):
        assert list(row_warning(fitting, Config(targets=row.targets, base=row.base))) == []


def test_functions_of_a_plan_are_relative_to_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "part").mkdir()
    config = _written(tmp_path, focus=["part/m.py:*", "other/m.py:*", "torch.abs"])
    monkeypatch.chdir(tmp_path / "part")

    _, read = apply_plan(config)

    assert read.focus[-2:] == ("m.py:*", "other/m.py:*")
    assert not list(focus_warning({"torch": group(member("torch==2.13.0"))}, read))
