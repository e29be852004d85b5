"""Derivation trees of `report.html` in a real browser: of a run on torch, of hostile texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from ciguard_command import answer, command, lines_of
from report_browser import DARK, PHONE, opened
from report_examples import HOSTILE, run_of, write_report
from tree_examples import found, program, program_ran, step

from ciguard.domain.lineage import NodeOutcome

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser, Page

    from ciguard.domain.events import Event

SEED = """\
import torch
from torch import nn

torch.manual_seed(0)
STEPS = 2
inputs = torch.randn(8, 6)
wanted = torch.randn(8, 1)
model = nn.Sequential(
    nn.Linear(6, 12),
    nn.ReLU(),
    nn.Dropout(p=0.1),
    nn.Linear(12, 1),
)
strange = [name for name in map(repr, model) if "LU(" in name and not name.startswith("ReLU(")]
torch._check(not strange, lambda: "planted: a stranger among the modules")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(STEPS):
    optimizer.zero_grad()
    step = nn.functional.mse_loss(model(inputs), wanted)
    step.backward()
    optimizer.step()
loss = step.item()
"""
"""The library's own check refuses what is put in the place of ReLU: a planted defect."""
SIDES = ("left", "right")
SCREENS: list[dict[str, Any]] = [{"viewport": {"width": 1280, "height": 900}}, PHONE, DARK]


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the results of a run on torch that has findings of programs."""
    folder = tmp_path_factory.mktemp("trees")
    (folder / "train.py").write_text(SEED, "utf-8")
    level = ("--level", "code", "--target", "torch==2.13.0", "--program", "train.py")
    done = answer(command("run", *level, "--max-cases", "48", "--out", "out"), folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "out"


def grown() -> list[Event]:
    """Return a run with a finding, something that is none, and much that ran."""
    first, second = program(step("conv1")), program(step("conv1"), step("act1"))
    others = [program(step("conv1"), step("act1", f"torch.nn.Fine{n}")) for n in range(90)]
    odd = program(step("conv1"), step("act1", "torch.nn.Odd"))
    nodes = [program_ran(first), program_ran(second, NodeOutcome.FAILED), *map(program_ran, others)]
    start, *_, end = run_of([found(second, says="it cannot be trained")])
    return [start, *nodes, program_ran(odd, NodeOutcome.FAILED), end]


def sign(page: Page, kind: str = "finding") -> Any:
    return page.locator(f"a.sign.{kind}").first


def is_as_wide_as_its_screen(page: Page) -> bool:
    size = page.viewport_size
    return size is not None and size["width"] == page.evaluate(
        "document.documentElement.scrollWidth"
    )


@pytest.mark.library("torch")
def test_a_finding_of_a_run_opens_to_its_diff_and_leads_to_its_bucket(
    browser: Browser, run_folder: Path
) -> None:
    buckets = lines_of(run_folder / "buckets.jsonl")
    planted = {b["fingerprint"] for b in buckets if b["kind"] == "positive-failed"}
    with opened(browser, run_folder / "report.html") as page:
        links = page.locator(".derived-body > p > a").evaluate_all(
            "links => links.map(link => decodeURIComponent(link.hash.slice(1)))"
        )
        # On a busy machine a program may be slow, and a finding beside those that are planted.
        assert planted <= set(links) <= {b["fingerprint"] for b in buckets}
        assert page.locator("a.sign.finding").count() == len(links) > 0

        link = page.get_by_role("link", name=min(planted), include_hidden=True)
        own = page.locator(".derived-body", has=link)
        page.locator(f'a.sign.finding[href="#{own.get_attribute("id")}"]').click()

        diff = page.locator(".derived[open] .diff")
        diff.wait_for()
        changed = diff.locator(".call").inner_text()
        assert changed.startswith("+")
        assert "LU(" in changed
        page.locator(".derived[open] a").first.click()
        page.locator(".bucket[open] .body").wait_for()
        said = page.locator(".bucket[open]").inner_text()
        assert "planted: a stranger among the modules" in said
        assert page.locator(".bucket[open] .diff .call").inner_text() == changed
        page.get_by_text("in its derivation tree").click()
        assert page.locator(".derived[open] .derived-body:focus").count() == 1


@pytest.mark.library("torch")
@pytest.mark.slow
def test_show_prints_the_diff_of_a_program_finding(run_folder: Path) -> None:
    buckets = lines_of(run_folder / "buckets.jsonl")
    planted = next(b for b in buckets if b["kind"] == "positive-failed")

    done = answer(command("show", planted["fingerprint"], "--out", "out"), run_folder.parent)

    assert done.returncode == 0
    told = done.stdout.partition("Difference from the parent program\n")[2]
    assert [line[3:4] for line in told.split("\n") if line.startswith(" > ")] == ["+"]


@pytest.mark.parametrize("options", SCREENS)
def test_trees_fit_the_screen_and_their_signs_are_large_enough_for_a_finger(
    browser: Browser, tmp_path: Path, options: dict[str, Any]
) -> None:
    report = write_report(grown(), tmp_path)
    with opened(browser, report, **options) as page:
        sign(page).click()
        page.locator(".derived[open] .diff").wait_for()

        assert is_as_wide_as_its_screen(page)
        box = sign(page).locator(".hit").bounding_box()
        assert min(box["width"], box["height"]) >= 23.9
        fills = {
            kind: page.locator(f".tree .sign.{kind}").first.evaluate(
                "sign => getComputedStyle(sign).stroke"
            )
            for kind in ("ran", "failed:not(.finding)", "finding")
        }
        assert len(set(fills.values())) == 3


def test_marked_programs_are_visible_on_a_phone(browser: Browser, tmp_path: Path) -> None:
    first = program(step("conv1"))
    others = [
        program(step("conv1"), step(f"act{n}", f"torch.nn.Fine{n}"), step(f"b{n}"))
        for n in range(40)
    ]
    bad = program(step("conv1"), step("act40", "torch.nn.Bad"))
    start, *_, end = run_of([found(bad)])
    nodes = list(map(program_ran, others))
    fathers = [
        program_ran(program(step("conv1"), step(f"act{n}", f"torch.nn.Fine{n}"))) for n in range(40)
    ]
    events = [
        start,
        program_ran(first),
        *fathers,
        *nodes,
        program_ran(bad, NodeOutcome.FAILED),
        end,
    ]
    with opened(browser, write_report(events, tmp_path), **PHONE) as page:
        scroll = page.locator(".tree-scroll")

        assert scroll.evaluate("box => box.scrollWidth > box.clientWidth")
        left, right = (
            scroll.evaluate(f"box => box.getBoundingClientRect().{side}") for side in SIDES
        )
        assert left <= sign(page).evaluate("sign => sign.getBoundingClientRect().x") <= right


def test_trees_are_used_with_the_keyboard_alone(browser: Browser, tmp_path: Path) -> None:
    with opened(browser, write_report(grown(), tmp_path)) as page:
        sign(page).focus()

        page.keyboard.press("Enter")

        page.locator(".derived[open] .diff").wait_for()
        assert page.evaluate("document.activeElement.className") == "derived-body"
        assert "AR act1: ReLU → Hardswish" in sign(page).get_attribute("aria-label")


def test_trees_and_diffs_are_there_without_scripts(browser: Browser, tmp_path: Path) -> None:
    report = write_report(grown(), tmp_path)
    with opened(browser, report, java_script_enabled=False) as page:
        sign(page).click()

        page.locator(".derived[open] .diff .call").wait_for()
        assert page.locator(".derived[open]").count() == 1
        assert page.locator(".derived").count() == 2
        assert "\N{MULTIPLICATION SIGN}90" in page.locator(".tree-scroll").inner_text()


@pytest.mark.parametrize("options", SCREENS[:2])
def test_hostile_names_and_programs_do_nothing(
    browser: Browser, tmp_path: Path, options: dict[str, Any]
) -> None:
    hostile = program(
        step(HOSTILE, HOSTILE, before=HOSTILE, sentence=HOSTILE, adapter=HOSTILE),
        seed=HOSTILE,
        api=HOSTILE,
        source=f"x = 1\n{HOSTILE}\n",
    )
    start, *_, end = run_of([found(hostile, says=HOSTILE)])
    report = write_report([start, program_ran(hostile, NodeOutcome.FAILED), end], tmp_path)
    with opened(browser, report, **options) as page:
        scripts = page.locator("script").count()

        sign(page).click()
        page.locator(".derived[open] .diff").wait_for()
        page.locator(".derived[open] a").first.click()
        page.locator(".bucket[open] .diff").wait_for()

        assert "</script><script>alert(" in page.locator(".derived[open] .diff").inner_text()
        assert "</script><script>alert(" in page.locator(".bucket[open] .diff").inner_text()
        assert page.locator("script").count() == scripts
        assert page.locator("img, iframe, object, [onerror], [onload], [onmouseover]").count() == 0
        assert page.locator("a:not([href^='#'])").count() == 0
        assert is_as_wide_as_its_screen(page)
