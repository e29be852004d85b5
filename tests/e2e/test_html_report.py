"""`report.html` in a real browser: of a real run, of hostile texts, of 10,000 buckets."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from ciguard_command import answer, campaign, lines_of
from layer_findings import MUTATIONS, RATES, layer_case, layer_difference
from report_browser import DARK, PHONE, opened
from report_examples import HOSTILE, bucket, hostile_events, many, run_of, write_report

from ciguard.domain.causes import Cause
from ciguard.domain.models import GraphOrigin
from ciguard.reports import in_display_order

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser, Locator, Page

QUICK = ("--exclude", "*.spin", "--exclude", "*.tail", "--max-cases", "160")


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the results of a run that had a baseline: what it meets is known."""
    folder = tmp_path_factory.mktemp("report")
    for _ in range(2):
        done = answer(campaign(*QUICK), folder)
        assert done.returncode == 0, done.stderr
    return folder / ".ciguard" / "run"


def count_of(page: Page) -> int:
    return page.locator(".bucket").count()


def first_open(page: Page) -> Any:
    box = page.locator(".bucket").first
    box.locator("summary").first.click()
    box.locator(".body").wait_for()
    return box


def test_a_bucket_opens_with_its_evidence_outcomes_and_script(
    browser: Browser, run_folder: Path
) -> None:
    buckets = lines_of(run_folder / "buckets.jsonl")
    known = next(b for b in buckets if b["comparison"] == "known" and b["reproducer"])
    script = (run_folder / known["reproducer"]).read_text("utf-8")
    with opened(browser, run_folder / "report.html") as page:
        assert page.locator("h1").inner_text().startswith("Nothing new")
        assert count_of(page) == len(buckets)

        page.fill("#text", known["fingerprint"])
        page.locator("#count", has_text=f"1 of {len(buckets)}").wait_for()
        box = first_open(page)

        said = box.inner_text()
        assert known["api"] in said
        assert known["evidence"]["observed"] in said
        for target in known["outcomes"]:
            assert target in said
        assert "first seen" in said
        box.get_by_text("Copy script").click()
        box.get_by_text("Copied").wait_for()
        assert page.evaluate("navigator.clipboard.readText()") == script


def test_filters_narrow_the_list_and_one_button_takes_them_back(
    browser: Browser, run_folder: Path
) -> None:
    buckets = lines_of(run_folder / "buckets.jsonl")
    crashes = [b for b in buckets if b["class"] in {"crash", "security-crash"}]
    critical = [b for b in buckets if b["severity"] == "critical"]
    with opened(browser, run_folder / "report.html") as page:
        page.select_option("#kind", f"class={crashes[0]['class']}")
        of_a_class = count_of(page)
        page.locator("#reset").click()
        page.select_option("#severity", "critical")
        of_a_severity = count_of(page)
        page.locator("#reset").click()
        page.locator(".chip.new").click()
        new = count_of(page)
        page.locator("#reset").click()

        assert of_a_class == sum(b["class"] == crashes[0]["class"] for b in buckets)
        assert of_a_severity == len(critical) < len(buckets)
        assert new == sum(b["comparison"] == "new" for b in buckets) == 0
        assert count_of(page) == len(buckets)


def test_the_list_is_used_with_the_keyboard_alone(browser: Browser, run_folder: Path) -> None:
    with opened(browser, run_folder / "report.html") as page:
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        page.keyboard.press("Space")
        assert page.locator(".chip").first.get_attribute("aria-pressed") == "true"
        page.keyboard.press("Space")
        page.locator(".bucket > summary").first.focus()

        page.keyboard.press("Enter")

        page.locator(".bucket[open] .body").wait_for()  # of an open one the body follows
        assert page.locator(".bucket[open]").count() == 1


def test_the_address_of_a_bucket_opens_it(browser: Browser, run_folder: Path) -> None:
    last = lines_of(run_folder / "buckets.jsonl")[-1]
    with opened(browser, run_folder / "report.html") as page:
        page.evaluate("id => { location.hash = encodeURIComponent(id) }", last["fingerprint"])

        page.locator(".bucket[open] .body").wait_for()
        assert count_of(page) == 1
        assert last["api"] in page.locator(".bucket").inner_text()


@pytest.mark.parametrize("options", [PHONE, {"viewport": {"width": 1280, "height": 900}}])
def test_nothing_is_wider_than_the_screen(
    browser: Browser, run_folder: Path, options: dict[str, Any]
) -> None:
    with opened(browser, run_folder / "report.html", **options) as page:
        for box in page.locator(".bucket").all()[:10]:
            box.locator("summary").first.click()
        page.locator(".bucket[open] .body").first.wait_for()

        width = page.evaluate("document.documentElement.scrollWidth")

        assert width == options["viewport"]["width"]


def test_charts_show_every_target_and_the_trend(browser: Browser, run_folder: Path) -> None:
    with opened(browser, run_folder / "report.html") as page:
        labels = [svg.get_attribute("aria-label") for svg in page.locator("svg").all()]

        kinds, cases, outcomes, coverage, trend = map(str, labels)
        assert "crash" in kinds
        assert "passed" in outcomes
        for label in (cases, outcomes, coverage):
            assert "current[planted]" in label
        assert trend.startswith("The baseline before this run: ")


def test_the_page_is_dark_where_the_reader_wants_it(browser: Browser, run_folder: Path) -> None:
    grounds = []
    for options in ({}, DARK):
        with opened(browser, run_folder / "report.html", **options) as page:
            colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
            grounds.append(sum(map(int, colour.removeprefix("rgb(").rstrip(")").split(","))))

    light, dark = grounds
    assert dark < 150
    assert light > 600


def test_hostile_texts_do_nothing(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "reproducers").mkdir()
    script = HOSTILE.replace("\ud800", "")
    (tmp_path / "reproducers" / "hostile.py").write_text(script, encoding="utf-8")
    report = write_report(hostile_events(), tmp_path)
    with opened(browser, report, **PHONE) as page:
        scripts = page.locator("script").count()

        box = first_open(page)
        for inner in box.locator("details > summary").all():
            inner.click()
        page.fill("#text", "<img src=x")
        page.locator("#text").press("Enter")
        page.wait_for_timeout(500)

        assert count_of(page) == 1
        assert "</script><script>alert(" in box.inner_text()
        assert page.locator("script").count() == scripts
        assert page.locator("img, iframe, object, [onerror], [onload], [onmouseover]").count() == 0
        assert page.locator("a:not([href^='#'])").count() == 0
        assert page.evaluate("document.documentElement.scrollWidth") == 360


@pytest.mark.parametrize("options", [{"viewport": {"width": 1280, "height": 900}}, PHONE, DARK])
def test_model_bucket_shows_its_mutant_and_the_growing_deviation(
    browser: Browser, tmp_path: Path, options: dict[str, Any]
) -> None:
    report = write_report(run_of([bucket(1, layer_difference())]), tmp_path)
    with opened(browser, report, **options) as page:
        box = first_open(page)

        said = box.inner_text()
        assert "Origin" in said
        for text in ("lenet5-mnist", *MUTATIONS, "the outputs (predict)"):
            assert text in said
        layers = box.locator(".deviations .layer:has(.name)")
        suspect = box.locator(".deviations .suspect")
        assert [one.split()[0] for one in layers.locator(".name").all_inner_texts()] == [
            name for name, _ in RATES
        ]
        assert suspect.inner_text().split() == ["conv_3", "suspect", "3.2e4"]
        widths = {
            layer.locator(".name").inner_text().split()[0]: _width(layer.locator(".bar"))
            for layer in layers.all()
        }
        assert widths["p_relu"] == widths["flatten"] == 0
        # Of 32,000, 417 and 12.5, on a scale that ends at a million.
        full = _width(suspect.locator("svg"))
        assert widths["conv_3"] == pytest.approx(full * 4.505 / 6, abs=2)
        assert widths["batch_normalization"] == pytest.approx(full * 2.621 / 6, abs=2)
        assert widths["conv2d_2"] == pytest.approx(full * 1.130 / 6, abs=2)
        red, *others = [
            layer.evaluate("bar => getComputedStyle(bar).fill")
            for layer in (suspect.locator(".bar"), *layers.locator(".bar").all()[:2])
        ]
        assert red not in others


def _width(drawn: Locator) -> float:
    box = drawn.bounding_box() if drawn.count() else None
    return box["width"] if box else 0.0


def test_layer_of_a_large_model_fits_a_phone_screen(browser: Browser, tmp_path: Path) -> None:
    rates = tuple((f"mixed{n}_branch3x3dbl_batch_normalization_{n}" * 2, n / 7) for n in range(159))
    origin = GraphOrigin(model="inception-v3", deviations=rates, suspect=rates[40][0])
    report = write_report(run_of([bucket(1, layer_difference(layer_case(origin)))]), tmp_path)
    with opened(browser, report, **PHONE) as page:
        chart = first_open(page).locator(".deviations")

        left_out = chart.locator(".left-out").all_inner_texts()
        assert chart.locator(".bar").count() == 24
        assert left_out == ["36 layers left out", "99 layers left out"]
        assert page.evaluate("document.documentElement.scrollWidth") == 360


def test_ten_thousand_buckets_are_drawn_by_the_page(browser: Browser, tmp_path: Path) -> None:
    report = write_report(run_of(many(10_000)), tmp_path)
    with opened(browser, report) as page:
        assert count_of(page) == 50
        assert page.evaluate("document.querySelectorAll('*').length") < 2_000

        page.locator("#more").click()
        assert count_of(page) == 100
        page.fill("#text", "operator_9998")
        page.locator("#count", has_text="1 of 10,000 buckets").wait_for()
        box = first_open(page)

        assert "check 9998 failed" in box.text_content()
        assert page.evaluate("document.querySelectorAll('*').length") < 1_500


def test_buckets_of_one_cause_are_one_line_that_opens(browser: Browser, tmp_path: Path) -> None:
    shared = Cause(name="g1:" + "a" * 16, kind="failed check", text="shape.cc: n > 0")
    alone, *others = many(4)
    buckets = [alone, *(replace(bucket, cause=shared) for bucket in others)]
    report = write_report(run_of(buckets), tmp_path)
    with opened(browser, report) as page:
        assert page.locator("#count").inner_text() == "4 buckets, 2 distinct causes"
        assert page.locator("#list > *").count() == 2
        members = page.locator(".members")
        assert members.locator(".bucket").count() == 2
        assert not members.locator(".bucket").first.is_visible()

        members.locator("summary").first.click()

        assert members.locator("summary").first.inner_text() == "2 more with the same cause"
        assert members.locator(".bucket").first.is_visible()
        page.fill("#text", others[-1].fingerprint)
        page.locator("#count", has_text="1 of 4 buckets").wait_for()
        assert page.locator(".members").count() == 0


def test_bucket_without_details_names_the_command_that_prints_them(
    browser: Browser, tmp_path: Path
) -> None:
    heavy = tuple((str(number), "<" * 400) for number in range(24))
    buckets = [replace(bucket, grouping=heavy) for bucket in many(900)]
    last = in_display_order(buckets)[-1].fingerprint
    report = write_report(run_of(buckets), tmp_path)
    with opened(browser, report) as page:
        page.fill("#text", last)
        page.locator("#count", has_text="1 of 900").wait_for()

        box = first_open(page)

        assert "The details do not fit into this page." in box.inner_text()
        assert f"ciguard show {last[3:11]}" in box.inner_text()


@pytest.mark.parametrize("options", [{}, PHONE, DARK])
def test_drawn_values_are_shown_as_a_table_that_fits(
    browser: Browser, run_folder: Path, options: dict[str, Any]
) -> None:
    values = json.loads((run_folder / "run.json").read_text("utf-8"))["values"]
    row, column, drawn, passed, _ = next(cell for cell in values["cells"] if cell[2])
    with opened(browser, run_folder / "report.html", **options) as page:
        page.get_by_role("link", name="Values").click()
        title = f"{column} for {row}: {drawn:,} drawn, {passed / drawn:.0%} of the calls passed"
        cell = page.locator(f'#values td[title^="{title}"]')

        assert cell.locator("b").inner_text() == f"{passed / drawn:.0%}"
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
