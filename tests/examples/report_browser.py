"""A report in a real browser, which notices whatever the page asks for or breaks."""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from playwright.sync_api import sync_playwright

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Dialog, Page

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
PHONE: dict[str, Any] = {"viewport": {"width": 360, "height": 740}, "has_touch": True}
DARK: dict[str, Any] = {"color_scheme": "dark"}


@contextmanager
def launched() -> Iterator[Browser]:
    """Start the machine's browser, or the one that Playwright installed; `make` sees to it."""
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    with sync_playwright() as playwright:
        # A browser's own sandbox does not start in containers, and the page is ours.
        arguments = ["--no-sandbox", "--disable-background-networking", "--disable-gpu"]
        # Distributions launch it by a shell script, which needs the programs of the system.
        variables: dict[str, str | float | bool] = {**os.environ, "PATH": os.defpath}
        started = playwright.chromium.launch(executable_path=path, args=arguments, env=variables)
        yield started
        started.close()


@contextmanager
def opened(browser: Browser, report: Path, **options: Any) -> Iterator[Page]:
    """Open a report; it must ask for nothing, say nothing and break nothing while it is used."""
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"], **options)
    page = context.new_page()
    asked: list[str] = []
    wrong: list[str] = []

    def refuse(dialog: Dialog) -> None:
        wrong.append(dialog.message)
        dialog.dismiss()

    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: wrong.append(message.text))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("dialog", refuse)
    page.goto(report.as_uri())
    yield page
    assert {url.partition("#")[0] for url in asked} == {report.as_uri()}
    assert wrong == [], wrong
    context.close()
