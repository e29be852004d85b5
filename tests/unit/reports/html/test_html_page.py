from __future__ import annotations

import json
import re
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import pytest
from report_examples import (
    BOUND,
    HOSTILE,
    bucket,
    hostile_events,
    many,
    run_of,
    started,
    target,
    write_report,
)

from ciguard.domain.baseline_status import BaselineState, BaselineStatus
from ciguard.domain.events import Event, Warned
from ciguard.domain.findings import Comparison, Verdict
from ciguard.domain.parts import Part
from ciguard.domain.plan import PackageChange, Place, Plan, PlanMode, SkippedJob
from ciguard.domain.shards import Shard
from ciguard.domain.value_table import ValueTable
from ciguard.reports.html.buckets import CHUNK, DETAILS_LIMIT, ROWS_LIMIT

if TYPE_CHECKING:
    from pathlib import Path

    from ciguard.domain.events import RunFinished

OURS = {
    *("html", "head", "meta", "title", "link", "style", "body", "header", "main", "footer"),
    *("nav", "a", "section", "aside", "article", "div", "p", "span", "b", "i", "code", "ul", "li"),
    *("h1", "h2", "h3", "dl", "dt", "dd", "form", "label", "input", "select", "button"),
    *("figure", "figcaption", "details", "summary", "noscript", "script"),
    *("table", "thead", "tbody", "tr", "th", "td"),
    *("svg", "line", "text", "polyline", "circle", "rect"),
}
INERT = re.compile(r"head|rows|details-\d+")


class Reader(HTMLParser):
    """Collects the elements and texts of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.raw: list[tuple[dict[str, str | None], str]] = []
        """Attributes and content of each script and style."""
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag in {"script", "style"}:
            self.raw.append((dict(attrs), ""))

    def handle_data(self, data: str) -> None:
        if self.cdata_elem:
            attributes, text = self.raw[-1]
            self.raw[-1] = (attributes, text + data)
        else:
            self.text += data

    def of(self, name: str) -> Any:
        (content,) = [text for attributes, text in self.raw if attributes.get("id") == name]
        return json.loads(content)


def read(events: list[Event], folder: Path) -> Reader:
    reader = Reader()
    reader.feed(write_report(events, folder).read_text("utf-8"))
    reader.close()
    return reader


@pytest.fixture
def hostile_page(tmp_path: Path) -> Reader:
    (tmp_path / "reproducers").mkdir()
    script = HOSTILE.replace("\ud800", "")
    (tmp_path / "reproducers" / "hostile.py").write_text(script, encoding="utf-8")
    return read(hostile_events(), tmp_path)


def test_hostile_texts_add_no_element_and_no_attribute_that_acts(hostile_page: Reader) -> None:
    tags = {tag for tag, _ in hostile_page.elements}
    names = {name for _, attributes in hostile_page.elements for name in attributes}

    assert tags <= OURS
    assert not [name for name in names if name.startswith("on") or name in {"style", "src"}]


def test_hostile_texts_are_shown_as_text(hostile_page: Reader) -> None:
    (details,) = hostile_page.of("details-0")

    assert BOUND in hostile_page.text
    assert "</script><script>alert(" in details["message"]
    assert "</script><script>alert(" in details["script"]
    assert details["issue_address"] == ""
    assert hostile_page.of("rows")[0]["api"].startswith("</script>")


def test_page_contains_no_invisible_or_bidirectional_characters(hostile_page: Reader) -> None:
    everything = hostile_page.text + "".join(
        json.dumps(json.loads(text), ensure_ascii=False)
        for attributes, text in hostile_page.raw
        if attributes.get("type") == "application/json"
    )

    assert not [c for c in everything if not c.isprintable() and c != "\n"]


def test_the_only_script_that_runs_is_the_one_that_the_policy_names(hostile_page: Reader) -> None:
    scripts = [(a, text) for a, text in hostile_page.raw if a.get("type") == "application/json"]
    running = [text for a, text in hostile_page.raw if a.get("type") != "application/json"]
    (policy,) = [a["content"] for tag, a in hostile_page.elements if "http-equiv" in a]

    style, script = running
    assert policy is not None
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    assert rules["script-src"] == _hash_of(script)
    assert rules["style-src"] == _hash_of(style)
    assert all(INERT.fullmatch(str(a["id"])) for a, _ in scripts)


def _hash_of(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def test_nothing_of_the_page_is_loaded_from_anywhere(hostile_page: Reader) -> None:
    addresses = {str(a["href"]).partition("#")[0] for _, a in hostile_page.elements if "href" in a}
    style = next(text for a, text in hostile_page.raw if not a)

    assert addresses == {"", "data:,"}
    assert "url(" not in style
    assert "@import" not in style


def test_page_shows_the_state_of_the_baseline(tmp_path: Path) -> None:
    stale = BaselineStatus(
        state=BaselineState.STALE,
        updated_at="2026-01-02T03:04:05Z",
        reasons=("it was never run on jax==0.10.2",),
    )

    page = read(run_of([], verdict=Verdict.CLEAN, exit_code=0, baseline=stale), tmp_path)

    assert "stale 2026-01-02" in page.text
    assert "it was never run on jax==0.10.2" in page.text
    assert ("header", {"class": "top doubt"}) in page.elements


def test_the_verdict_comes_first_and_needs_no_script(tmp_path: Path) -> None:
    page = read(run_of(many(6)), tmp_path)

    assert "NEW FINDINGS" in page.text
    assert page.text.index("2 new of severity") < page.text.index("Buckets by kind")


def test_page_shows_caveats_with_their_reasons(tmp_path: Path) -> None:
    plan = Plan(
        mode=PlanMode.BATCH,
        skipped=(
            SkippedJob(name="torch on cuda", targets=(), device="cuda", reason="no GPU runner"),
        ),
    )
    unmet = replace(many(1)[0], comparison=Comparison.NOT_RUN)
    _, *rest = run_of([unmet], targets=(target(not_run="the disk is full"),))

    page = read([started(plan), *rest], tmp_path)

    caveats = page.text.partition("Caveats")[2]
    sentences = [
        "the disk is full",
        "no GPU runner",
        "did not exercise 1 known bucket;",
        "Severity",
    ]
    assert sorted(sentences, key=caveats.index) == sentences


def test_warnings_are_shown_and_more_than_fit_are_counted(tmp_path: Path) -> None:
    begin, *rest = run_of([])
    warned = [Warned(message=f"the baseline is {days} days old") for days in range(140)]

    page = read([begin, *warned, *rest], tmp_path)

    assert "the baseline is 0 days old" in page.text
    assert "137 more" in page.text
    assert "40 more: see run.json" in page.text


def test_page_shows_the_plan_and_attributes_fixed_buckets_to_the_pull_request(
    tmp_path: Path,
) -> None:
    change = PackageChange(
        package="torch", base="2.12.0", head="2.13.0", place=Place(path="r.txt", line=3)
    )
    plan = Plan(
        mode=PlanMode.PULL_REQUEST,
        reasons=("torch was upgraded",),
        changes=(change,),
        uses={"torch.fold": (Place(path="src/model.py", line=12),)},
    )
    fixed = replace(many(1)[0], comparison=Comparison.FIXED)
    found = replace(fixed, finding=replace(fixed.finding, api="torch.fold"))
    _, *rest = run_of([found])

    page = read([started(plan), *rest], tmp_path)

    assert "torch was upgraded" in page.text
    assert "2.12.0 → 2.13.0" in page.text
    assert page.of("head")["states"]["fixed"] == "FIXED BY THIS PULL REQUEST"
    assert page.of("details-0")[0]["uses"] == ["src/model.py:12"]


def test_failed_reporter_makes_the_page_doubtful(tmp_path: Path) -> None:
    page = read(run_of([], exit_code=3), tmp_path)

    assert ("header", {"class": "top doubt"}) in page.elements


@pytest.mark.parametrize(
    ("not_run", "skipped", "tone"),
    [("", (), "good"), ("no such device", (), "doubt"), ("", ("torch on cuda",), "doubt")],
)
def test_page_is_green_only_if_all_targets_ran(
    not_run: str, skipped: tuple[str, ...], tone: str, tmp_path: Path
) -> None:
    jobs = tuple(
        SkippedJob(name=name, targets=(), device="cuda", reason="no GPU") for name in skipped
    )
    plan = Plan(mode=PlanMode.BATCH, skipped=jobs)
    _, *rest = run_of([], verdict=Verdict.CLEAN, exit_code=0, targets=(target(not_run=not_run),))

    page = read([started(plan), *rest], tmp_path)

    assert ("header", {"class": f"top {tone}"}) in page.elements


def test_every_bucket_has_its_row_and_its_details_at_the_same_place(tmp_path: Path) -> None:
    page = read(run_of(many(3 * CHUNK + 5)), tmp_path)

    rows = page.of("rows")
    details = [entry for number in range(4) for entry in page.of(f"details-{number}")]
    assert len(rows) == len(details) == 3 * CHUNK + 5
    assert [d["command"].split()[2] for d in details] == [
        row["id"].partition(":")[2][:8] for row in rows
    ]


@pytest.mark.lengthy
def test_page_size_is_bounded(tmp_path: Path) -> None:
    huge = "<" * 200_000
    (worst,) = many(1)
    grouping = tuple((str(number), huge) for number in range(100))
    finding = replace(worst.finding, message=huge, api=huge)
    worst = replace(worst, finding=finding, grouping=grouping)

    events = run_of([worst] * 7_000)
    text = write_report(events, tmp_path).read_text("utf-8")

    assert len(text) < ROWS_LIMIT + DETAILS_LIMIT + (1 << 20)
    page = Reader()
    page.feed(text)
    shown = len(page.of("rows"))
    assert 0 < shown < 7_000
    assert f"{7_000 - shown:,} further buckets do not fit into this page" in page.text


def test_merged_run_shows_its_parts_but_no_duration(tmp_path: Path) -> None:
    first = Part(
        ciguard="0.1.0",
        campaign={},
        targets=("torch==2.13.0",),
        shard=Shard(1, 2),
        verdict=Verdict.PART,
        budget_s=60.0,
        explored_in_s=60.0,
        ran=(),
        exercised={},
        replayed={},
        shown_on={},
        explored={},
        stages={},
        buckets=(),
    )
    parts = (first, replace(first, shard=Shard(2, 2)))

    page = read(run_of([], parts=parts), tmp_path)
    alone = read(run_of([], parts=parts[:1]), tmp_path)

    assert ("merged from" in page.text, "took" in page.text) == (True, False)
    assert ("merged from" in alone.text, "took" in alone.text) == (False, True)


def test_page_without_buckets_has_a_note(tmp_path: Path, finished: Any) -> None:
    end: RunFinished = finished(buckets=())

    page = read([started(), end], tmp_path)

    assert page.of("rows") == []
    assert "There are no buckets." in page.text
    assert "Cases over time" not in page.text  # as in a merge, which runs no batch


def test_fuzzed_names_of_the_page_have_no_folder_of_this_machine(tmp_path: Path) -> None:
    wheel = "/home/someone/ghs_secret/dist/lib-1.0.whl"
    found = replace(many(1)[0].finding, targets=(wheel,), outcomes={}, message=f"no {wheel}")

    write_report(run_of([bucket(1, found)], targets=(target(wheel),)), tmp_path)

    assert "ghs_secret" not in (tmp_path / "report.html").read_text("utf-8")


def test_drawn_values_are_a_table_whose_cells_say_what_they_mean(tmp_path: Path) -> None:
    table = ValueTable(calls=40)
    table.drawn["int", "ordinary"], table.passed["int", "ordinary"] = 32, 24
    table.drawn["int", "extreme"], table.crashed["int", "extreme"] = 8, 3

    page = read(run_of(many(1), values=table), tmp_path)

    titles = [attributes["title"] for tag, attributes in page.elements if tag == "td"]
    assert titles[0] == "ordinary for int: 32 drawn, 75% of the calls passed"
    assert "extreme for int: 8 drawn, 0% of the calls passed, 3 calls crashed" in titles
    assert "high rank for int: cannot stand there" in titles
    assert "negative for int: never drawn in the sample" in titles
    assert "negative for int" in page.text.partition("Never drawn")[2]
    assert "float tensor" not in page.text.partition("Drawn values")[2]


def test_a_page_without_drawn_values_has_no_table(tmp_path: Path) -> None:
    page = read(run_of(many(1)), tmp_path)

    assert "Drawn values" not in page.text
    assert not [tag for tag, _ in page.elements if tag == "table"]
