"""The page beside a baseline in a real browser."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from report_browser import DARK, PHONE, opened

from ciguard.baseline import RunSummary
from ciguard.domain.findings import Verdict
from ciguard.reports import history_files

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from playwright.sync_api import Browser

NIGHTS = 70


def runs() -> list[RunSummary]:
    first = datetime(2026, 1, 1, 3, 37, tzinfo=UTC)
    return [
        RunSummary(
            time=f"{first + timedelta(days=night):%Y-%m-%dT%H:%M:%SZ}",
            verdict=Verdict.NEW_FINDINGS if night % 9 == 5 else Verdict.CLEAN,
            cases=200_000 + 1_000 * (night % 7),
            new=int(night % 9 == 5),
            states=(("open", 30 + night // 9), ("fixed", night // 12), ("flaky", 3)),
            versions=(("<b>torch</b>==2.13.0", "2.13.0"),),
            page=f"https://github.com/owner/name/actions/runs/{night + 1}",
        )
        for night in range(NIGHTS)
    ]


@pytest.mark.parametrize("options", [{}, DARK, PHONE], ids=["light", "dark", "phone"])
def test_the_page_fits_draws_its_charts_and_asks_for_nothing(
    browser: Browser, tmp_path: Path, options: dict[str, Any]
) -> None:
    (tmp_path / "index.html").write_text(history_files(runs(), {})["index.html"], "utf-8")

    with opened(browser, tmp_path / "index.html", **options) as page:
        shown, whole = page.evaluate(
            "[document.documentElement.clientWidth, document.documentElement.scrollWidth]"
        )
        curves = page.locator("svg .curve")
        colours = curves.evaluate_all("all => all.map(one => getComputedStyle(one).stroke)")

        assert whole <= shown
        assert page.locator("h1").inner_text().endswith("37 known defects are open")
        assert curves.count() == 4
        assert len(set(colours)) == 4
        assert "none" not in colours
        assert page.get_by_text("<b>torch</b>==2.13.0").is_visible()
        assert page.locator(".runs tbody tr").count() == 30
