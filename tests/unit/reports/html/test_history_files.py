"""The page beside a baseline, and the badge."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from html.parser import HTMLParser

import pytest
from baseline_examples import NAMES, record

from ciguard.baseline import RunSummary
from ciguard.domain.findings import Severity, Verdict
from ciguard.reports import history_files

RUN = RunSummary(
    time="2026-01-02T03:04:05Z",
    verdict=Verdict.CLEAN,
    cases=1_234,
    new=0,
    states=(("open", 5), ("fixed", 1), ("accepted", 2), ("flaky", 3)),
    versions=(("torch==2.13.0", "2.13.0"),),
    page="https://github.com/owner/name/actions/runs/123",
)


class Reader(HTMLParser):
    """Collects the elements of a page, and the addresses that they may load."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.addresses: set[str] = set()
        self.events: list[str] = []
        self.policy = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.tags.add(tag)
        self.addresses |= {v or "" for k, v in attrs if k in {"href", "src", "action", "data"}}
        self.events += [name for name in given if name.startswith("on") or name == "style"]
        if given.get("http-equiv") == "Content-Security-Policy":
            self.policy = given["content"] or ""


def page(*runs: RunSummary) -> str:
    return history_files(runs, {})["index.html"]


def test_the_page_loads_nothing_runs_nothing_and_leads_to_runs_only() -> None:
    text = page(RUN)
    read = Reader(text)

    style = re.search(r"<style>(.*)</style>", text, re.DOTALL)
    assert style is not None
    digest = b64encode(sha256(style[1].encode()).digest()).decode()
    assert f"style-src 'sha256-{digest}'" in read.policy
    assert read.policy.startswith("default-src 'none'; ")
    assert not read.tags & {"script", "img", "iframe", "object", "embed", "form"}
    assert read.addresses == {"data:,", RUN.page}
    assert read.events == []
    assert "url(" not in style[1]


def test_target_names_are_escaped_on_the_history_page() -> None:
    hostile = (("</style><script>alert(1)</script>\x1b[2J\u202e", '"><img src=x onerror=a>'),)

    text = page(replace(RUN, versions=hostile))
    read = Reader(text)

    assert not read.tags & {"script", "img"}
    assert read.events == []
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "&lt;script&gt;" in text


def test_history_page_has_numbers_of_buckets_and_no_names() -> None:
    known = {name: record(name) for name in NAMES[:4]}
    mild = replace(known[NAMES[0]].representative, severity=Severity.LOW)
    known[NAMES[0]] = replace(known[NAMES[0]], representative=mild, issue="7")

    text = history_files([RUN], known)["index.html"]

    assert '<span class="severity critical">critical</span></th><td>3</td><td>0</td>' in text
    assert '<span class="severity low">low</span></th><td>1</td><td>1</td>' in text
    assert all(name not in text for name in NAMES)
    assert known[NAMES[0]].representative.api not in text


def test_the_share_of_noticed_planted_defects_is_drawn_over_time() -> None:
    earlier = replace(RUN, time="2026-01-01T00:00:00Z", planted=50, caught=44)
    later = replace(RUN, planted=50, caught=30)

    text = page(earlier, replace(RUN, time="2026-01-02T00:00:00Z"), later)

    assert "that each run noticed, in the last 30 of 50." in text
    assert all(cell in text for cell in ("<td>44/50</td>", "<td></td>", "<td>30/50</td>"))
    assert "Planted defects" not in page(RUN)


def test_long_history_is_drawn_completely_and_listed_partly() -> None:
    runs = [
        replace(RUN, time=f"20{26 + n // 300}-{1 + n // 25 % 12:02}-{1 + n % 25:02}T00:00:00Z")
        for n in range(1_000)
    ]

    text = page(*runs)

    assert len(text) < 100_000
    assert text.count('scope="row"><a href') == 30
    assert "the latest 30 of 1000" in text
    assert "2026-01-01" in text


def test_first_run_and_run_without_buckets_have_a_page() -> None:
    empty = replace(RUN, states=(), versions=(), page="", verdict=Verdict.ESTABLISHED)

    text = page(empty)

    assert "The baseline is established: 0 known defects are open" in text
    assert "the workflow run" not in text


@pytest.mark.parametrize(
    ("run", "message", "color"),
    [
        (RUN, "nothing new, 5 open", "green"),
        (replace(RUN, states=()), "nothing new, 0 open", "brightgreen"),
        (replace(RUN, verdict=Verdict.NEW_FINDINGS, new=2), "2 new, 5 open", "red"),
        (replace(RUN, verdict=Verdict.ESTABLISHED), "baseline of 5", "blue"),
        (replace(RUN, new=1), "1 new, 5 open", "yellow"),
    ],
)
def test_badge_has_the_format_of_a_shields_endpoint(
    run: RunSummary, message: str, color: str
) -> None:
    fields = json.loads(history_files([replace(RUN, new=9), run], {})["badge.json"])

    assert fields == {"schemaVersion": 1, "label": "ciguard", "message": message, "color": color}
