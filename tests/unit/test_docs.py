from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import pytest

from ciguard.config import LevelCommands, LevelSettings, Setting, level_setting
from ciguard.config.kinds import whole
from ciguard.domain.events import BucketOpened, Event, RunFinished
from ciguard.domain.findings import Verdict
from ciguard.reports import Destination, Reporter, dispatch

ROOT = Path(__file__).parents[2]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_relative_links_of_a_page_lead_to_files(page: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text("utf-8"))

    missing = [link for link in links if "://" not in link and not (page.parent / link).exists()]

    assert missing == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_checkout_in_a_recipe_keeps_no_credentials(page: Path) -> None:
    recipes = re.findall(r"```yaml\n(.*?)```", page.read_text("utf-8"), flags=re.DOTALL)
    steps = [step for recipe in recipes for step in re.split(r"\n +- ", recipe)]

    keeping = [
        step
        for step in steps
        if "uses: actions/checkout@" in step and "persist-credentials: false" not in step
    ]

    assert keeping == []


def examples() -> list[str]:
    """Return the code of the page on extending."""
    text = (ROOT / "docs" / "extending.md").read_text("utf-8")
    return re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)


def test_documented_reporter_runs(tmp_path: Path) -> None:
    _, code = examples()
    names: dict[str, Any] = {
        "Destination": Destination,
        "Event": Event,
        "BucketOpened": BucketOpened,
        "RunFinished": RunFinished,
    }
    exec(code, names)
    reporter: Reporter = names["CountingReporter"](
        Destination(folder=tmp_path, stream=io.StringIO())
    )
    end = RunFinished(
        verdict=Verdict.CLEAN, exit_code=0, summary="", targets=(), buckets=(), stages={}
    )

    ended = dispatch(iter([end]), {"counting": reporter})

    assert (ended.exit_code, ended.failures) == (0, ())
    assert (tmp_path / "count.txt").read_text("utf-8") == "0\n"


def test_documented_settings_are_those_of_a_level() -> None:
    code, _ = examples()
    names: dict[str, Any] = {
        "Setting": Setting,
        "level_setting": level_setting,
        "LevelCommands": LevelCommands,
        "LevelSettings": LevelSettings,
        "whole": whole,
    }

    exec(code, names)

    assert names["SETTINGS"].settings == (names["LARGEST"],)
    assert names["LARGEST"].kind.from_text("100") == 100
