# ruff: noqa: INP001 - a script, not a module
"""Draw what a pull request and an issue show: `make screenshots` writes docs/images.

The texts are those that the emulated GitHub of the tests receives in the life of
`examples/upgrade-guard`, on the planted library: an upgrade that breaks something, and the night
after it was merged all the same. The page of `ciguard app accuracy` is that of one of `seeds/apps`.
"""

from __future__ import annotations

import argparse
import html
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "examples"))

import surroundings
from action_file import ROOT
from example_project import established, hosted, planted_example, requiring
from github_markdown import html_of
from github_repository import WallClock
from github_server import GitHubServer
from hosted_project import this_checkout
from node_tools import Expressions
from report_browser import launched

if TYPE_CHECKING:
    from playwright.sync_api import Browser

IMAGES = ROOT / "docs" / "images"
STYLE = ROOT / "docs" / "github_page.css"
MAX_BYTES = 150_000
_AUTHOR = "<b>github-actions</b> <span class=label>bot</span>"


def main() -> int:
    """Play, draw and write; `--pages FILE` draws what an earlier call has kept there."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=Path, help="keep the pages here, or draw those kept")
    kept = parser.parse_args().pages
    home = surroundings.enter()
    if kept and kept.is_file():
        pages = json.loads(kept.read_text("utf-8"))
    else:
        with tempfile.TemporaryDirectory() as name:
            pages = _pages(Path(name))
    if kept:
        kept.write_text(json.dumps(pages), "utf-8")
    with launched() as browser:
        for name, page in pages.items():
            _draw(browser, page, IMAGES / f"{name}.png")
        _draw_accuracy(browser, IMAGES / "accuracy.png")
    surroundings.leave(home)
    return 0


def _pages(folder: Path) -> dict[str, str]:
    """Play the life, and return what is to be seen of it."""
    (folder / "ciguard").mkdir()
    ciguard = this_checkout(folder / "ciguard")
    with Expressions() as expressions, GitHubServer(clock=WallClock()) as server:
        project = hosted(planted_example(folder / "project"), ciguard, server, expressions)
        established(project, ciguard)
        upgrade = project.opened(**requiring(project.folder, "2.0"))
        project.judged(upgrade)
        project.merged(upgrade)
        project.night()
        (run,) = [run for run in server.checks.runs if run["head_sha"] == upgrade.head]
        (comment,) = server.repository.issues[upgrade.number].comments
        issues = server.repository.issues.values()
        (issue,) = [one for one in issues if one.latest["title"].startswith("planted.checked: ")]
        return {
            "check": _check(run, server.checks.annotations[run["id"]]),
            "comment": _box(f"{_AUTHOR} commented", _unfolded(comment["body"])),
            "issue": _issue(issue.number, issue.latest),
        }


def _check(run: dict[str, Any], annotations: list[dict[str, Any]]) -> str:
    shown = "".join(
        f"<div class=annotation><b>{html.escape(one['title'])}</b>"
        f"<div class=where>{html.escape(one['path'])}, line {one['start_line']}</div>"
        f"{html.escape(one['message'])}</div>"
        for one in annotations
    )
    output = run["output"]
    return (
        f"<h1 class=title>{html.escape(output['title'])}</h1>"
        f"<p class=meta><span class='pill {run['conclusion']}'>{run['conclusion']}</span> "
        f"check run <b>{html.escape(run['name'])}</b></p>"
        f"<div class=box><div class=head><b>Annotations</b></div>{shown}</div>"
        f"{html_of(output['summary'])}"
    )


def _issue(number: int, state: dict[str, Any]) -> str:
    labels = " ".join(f"<span class=label>{html.escape(name)}</span>" for name in state["labels"])
    return (
        f"<h1 class=title>{html.escape(state['title'])} <span>#{number}</span></h1>"
        f"<p class=meta><span class='pill {state['state']}'>{state['state']}</span> {labels}</p>"
        f"{_box(f'{_AUTHOR} opened this issue', state['body'])}"
    )


def _unfolded(text: str) -> str:
    """Show what a reader sees who asks for the first bucket."""
    return text.replace("<details>", "<details open>", 1)


def _box(head: str, body: str) -> str:
    return f"<div class=box><div class=head>{head}</div><div class=body>{html_of(body)}</div></div>"


def _draw(browser: Browser, page: str, path: Path) -> None:
    """Write a picture of a page; what is below its greatest height fades away."""
    text = f"<meta charset=utf-8><style>{STYLE.read_text('utf-8')}</style><main>{page}</main>"
    tab = browser.new_page(viewport={"width": 932, "height": 800})
    tab.set_content(text)
    main = tab.locator("main")
    main.evaluate("it => it.classList.toggle('long', it.scrollHeight > it.clientHeight)")
    path.parent.mkdir(exist_ok=True)
    main.screenshot(path=path)
    tab.close()
    size = path.stat().st_size
    if size > MAX_BYTES:
        sys.exit(f"{path}: {size} bytes are more than {MAX_BYTES}. Lower it in {STYLE.name}.")


def _draw_accuracy(browser: Browser, path: Path) -> None:
    """Write a picture of what `ciguard app accuracy --report` shows of an application."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "accuracy.html"
        application = ROOT / "seeds" / "apps" / "mood_diary.py"
        command = [sys.executable, "-m", "ciguard", "app", "accuracy", str(application)]
        subprocess.run(
            [*command, "--function", "*.mood", "--report", str(page)], check=True, cwd=folder
        )
        tab = browser.new_page(viewport={"width": 932, "height": 540})
        tab.goto(page.as_uri())
        tab.screenshot(path=path)
        tab.close()


if __name__ == "__main__":
    sys.exit(main())
