"""The page of `ciguard app accuracy --report` in a real browser: of an application that fails."""

from __future__ import annotations

import csv
import subprocess
import sys
from textwrap import dedent
from typing import TYPE_CHECKING, Any

import pytest
from image_server import photo
from report_browser import DARK, PHONE, opened

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.slow

GATE = """
    from google.cloud import language_v1, speech_v1 as speech, vision


    def alarm(path: str) -> bool:
        client = vision.ImageAnnotatorClient()
        with open(path, "rb") as file:
            image = vision.Image(content=file.read())
        for label in client.label_detection(image=image).label_annotations:
            if label.description == "Vehicle":
                return True
        return False


    def topic(text: str) -> str:
        client = language_v1.LanguageServiceClient()
        document = {"content": text, "type_": "PLAIN_TEXT"}
        for one in client.classify_text(request={"document": document}).categories:
            if one.name == "/Sports":
                return "sport"
        return ""


    def mood(text: str) -> str:
        client = language_v1.LanguageServiceClient()
        document = {"content": text, "type_": "PLAIN_TEXT"}
        felt = client.analyze_sentiment(request={"document": document}).document_sentiment
        if felt.magnitude > 0.5:
            return "happy"
        return "sad"


    def opens(path: str) -> bool:
        config = speech.RecognitionConfig(language_code="en-US")
        with open(path, "rb") as file:
            audio = speech.RecognitionAudio(content=file.read())
        response = speech.SpeechClient().recognize(config=config, audio=audio)
        if "open" in response.results[0].alternatives[0].transcript.split():
            return True
        return False
"""
HABITS = r"""
    [labels]
    Vehicle = { Car = 0.9, "<script>alert(1)</script>" = 0.8, "\u001b[31mred" = 0.6, Vehicle = 0.0 }
    [categories]
    "/Sports" = { "/Sports/Team Sports" = 0.9, "/Sports" = 0.1 }
"""
FAULTS = """
    [[fault]]
    error = "UNAVAILABLE"
    message = "not now <script>alert(5)</script>"
    operations = ["label_detection"]
    [[fault]]
    answer = "nothing"
    operations = ["classify_text"]
"""
NAMES = (
    "<img src=x onerror=alert(1)>",
    '"><script>alert(2)<!--',
    "a\u202eb\nc",
    "%22 onload=%22alert(3)",
    "very " * 40,
    "&lt;b&gt;",
)
URL = "https://photos.example/" + "x" * 400
SCREENS = {"screen": {"viewport": {"width": 1280, "height": 900}}, "phone": PHONE, "dark": DARK}


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the page of a run in which everything fails that can, on hostile names and texts."""
    folder = tmp_path_factory.mktemp("accuracy")
    (folder / "app").mkdir()
    (folder / "app" / "gate.py").write_text(dedent(GATE))
    (folder / "habits.toml").write_text(dedent(HABITS))
    (folder / "faults.toml").write_text(dedent(FAULTS))
    vehicle, sports = folder / "images" / "vehicle", folder / "images" / "sports"
    vehicle.mkdir(parents=True)
    sports.mkdir()
    for at, name in enumerate(NAMES):
        (vehicle / f"{name}.jpg").write_bytes(photo(at, (640, 300 + 200 * at)))
    (sports / "match.txt").write_text("They won <script>alert(4)</script>\n\x1b[31m" + "goal " * 99)
    with (folder / "images" / "SOURCES.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["file", "licence", "url", "creator"])
        rows.writerows([f"vehicle/{name}.jpg", "CC BY 2.0", URL, "<b>Jane</b>"] for name in NAMES)
    words = ["app", "--images", "images", "--habits", "habits.toml", "--inputs", "24"]
    words += ["--faults", "faults.toml"]
    done = subprocess.run(
        [sys.executable, "-m", "ciguard", "accuracy", *words, "--report", "page.html"],
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        timeout=600,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    return folder / "page.html"


def unfolded(page: Page) -> Page:
    for one in page.locator("details > summary").all():
        one.click()
    return page


def test_page_shows_failing_images_texts_and_sounds(browser: Browser, report: Path) -> None:
    with opened(browser, report) as page:
        title = "3 of 4 sub-conditions fail, 1 crash; 1 exception with injected faults"
        assert page.locator("h1").inner_text() == title
        folded = page.locator("summary").all_inner_texts()
        unfolded(page)
        page.evaluate("Promise.all([...document.images].map(one => one.decode()))")

        widths = page.evaluate("[...document.images].map(one => one.naturalWidth)")
        texts = page.locator("blockquote").all_inner_texts()

        # None is too large to be seen; one is shown beside what faults bring about, too.
        assert widths.count(640) == len(NAMES) + 1
        assert all(widths)
        assert any(one.startswith("They won <script>alert(4)</script>\n\\x1b[31m") for one in texts)
        assert page.locator("img").first.get_attribute("alt") == "labels: Vehicle"
        assert all(one.endswith(" inputs that do not make it true") for one in folded[:2])
        assert folded[2].endswith("texts that make it true")
        assert page.locator(".word").all_inner_texts() == ["WARNING"] * 4 + ["CRASH", "OK"]
        assert page.locator(".diff .added").first.inner_text().strip().startswith("+")


def test_failure_under_faults_is_shown_with_an_input(browser: Browser, report: Path) -> None:
    with opened(browser, report) as page:
        alarm, topic = (page.locator(".function", has_text=name) for name in ("alarm", "topic"))

        (said,) = alarm.locator(".verdict-of", has_text="with injected faults").all()

        assert "ServiceUnavailable: 503 not now <script>alert(5)</script>" in said.inner_text()
        assert said.locator("img").count() == 1
        assert "No uncaught exception in" in topic.inner_text()


def test_a_sound_is_played(browser: Browser, report: Path) -> None:
    with opened(browser, report) as page:
        audio = page.locator("audio")
        audio.evaluate("""one => {
            one.muted = true;
            const goesOn = new Promise(done => {
                one.ontimeupdate = () => one.currentTime && done();
            });
            return one.play().then(() => goesOn);
        }""")

        assert audio.evaluate("one => [one.duration, one.error]") == [2.0, None]


def test_hostile_names_labels_and_texts_do_nothing(browser: Browser, report: Path) -> None:
    with opened(browser, report) as page:
        said = unfolded(page).locator("main").inner_text()

        for text in (
            "vehicle/<img src=x onerror=alert(1)>.jpg",
            'vehicle/"><script>alert(2)<!--.jpg',
            "vehicle/a\\u202eb\\nc.jpg",
            "vehicle/&lt;b&gt;.jpg",
            "<b>Jane</b>",
            "<script>alert(1)</script>",
            "\\x1b[31mred",
        ):
            assert text in said
        assert URL in said  # whole, as licences ask for
        assert page.locator("script, iframe, object, a, b, [onerror], [onload]").count() == 0
        sources = page.locator("img, audio").evaluate_all("all => all.map(one => one.src)")
        assert all(one.startswith("data:") for one in sources)


@pytest.mark.parametrize("screen", SCREENS)
def test_page_is_readable_on_every_screen(browser: Browser, report: Path, screen: str) -> None:
    options: dict[str, Any] = SCREENS[screen]
    with opened(browser, report, **options) as page:
        unfolded(page)

        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        heights = page.evaluate("[...document.images].map(one => one.height)")
        assert max(heights) < 300
        assert min(_contrasts(page)) > 4.5


def _contrasts(page: Page) -> list[float]:
    """Return how far each text's luminance is from what is behind it, as WCAG 2 has it."""
    contrasts: list[float] = page.evaluate("""() => {
        const canvas = document.createElement("canvas")
            .getContext("2d", { willReadFrequently: true });
        const rgba = colour => {
            canvas.clearRect(0, 0, 1, 1);
            canvas.fillStyle = colour;
            canvas.fillRect(0, 0, 1, 1);
            return [...canvas.getImageData(0, 0, 1, 1).data];
        };
        const light = colour => rgba(colour).slice(0, 3)
            .map(one => one / 255)
            .map(one => one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4)
            .reduce((sum, one, at) => sum + one * [0.2126, 0.7152, 0.0722][at], 0);
        const behind = element => {
            const colour = getComputedStyle(element).backgroundColor;
            return rgba(colour)[3] === 255 ? colour : behind(element.parentElement);
        };
        const texts = "h1, h2, h3, p, code, summary, figcaption, span, blockquote";
        return [...document.querySelectorAll(texts)]
            .map(one => [light(getComputedStyle(one).color), light(behind(one))].sort())
            .map(([dark, bright]) => (bright + 0.05) / (dark + 0.05));
    }""")
    assert len(contrasts) > 40
    return contrasts
