"""Text of cases and baselines commands nothing; the job's token gets nowhere."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import xmlschema
from ciguard_command import (
    answer,
    campaign,
    command,
    descendants,
    is_under_way,
    lines_of,
    started,
    wait_until,
)
from github_markdown import tokens_of
from github_repository import NAME
from github_server import TOKEN, GitHubServer
from jsonschema import Draft4Validator
from planted_wheel import planted_wheel

if TYPE_CHECKING:
    from collections.abc import Iterator

HOSTILE = "boom\n::set-env name=PWNED::1\r::error file=a,line=1::PWNED\n##[error]PWNED"
COMMAND = re.compile(r"^\s*(?:::|##\[)(?P<name>[A-Za-z-]+)")
OURS = {"group", "endgroup", "stop-commands", "error", "warning", "notice", "debug"}
GONE = "planted.gone"
SECRET = "ghs_planted0123456789secret"
QUICK = ("--exclude", "*.spin", "--max-cases", "320")

SPELLS = (
    "@everyone #1 GH-1 https://evil.invalid/ ![x](https://evil.invalid/x.png) [y](javascript:)\n#P",
    "<img src=x onerror=PWNED()></script><script>PWNED()</script>]]></details>--><h1>",
    "\x1b[31m\x9b2J\0\u202e\u200b\u2066\ud800 ``` ``````\n```\n~~~\n</details>\n",
    HOSTILE + "\nverdict=nothing-new\nverdict<<EOF\nnothing-new\nEOF\n",
    "${{ github.token }} {{7*7}} {% raw %} %0A::error::PWNED {0} | cell | $(id) `id` \\|",
    "/home/runner/work/_temp/ghs_planted0123/x /tmp/ghs_planted0123/y https://me:hunter2@evil.invalid/",
)
"""What a library under test says in its messages, its log, and the names of its exceptions."""
CHECKED = f"""
import os, zlib
if n < 2:
    return n
spell = zlib.crc32(str(n).encode()) % {len(SPELLS)}
text = {SPELLS!r}[spell]
os.write(2, text.encode("utf-8", "replace"))
kind = type("Spell" + str(spell) + "<img onerror=PWNED>@everyone", (SystemError,), dict())
raise kind(text + "x" * (100_000 if spell else 10_000_000))
"""
BOUND_BYTES = 2_000_000
"""Far below what the library said, and enough for each of all reports."""
SCHEMAS = Path(__file__).parents[1] / "examples" / "schemas"
ELEMENT = re.compile(
    r"</?(?:details|summary|code|sub)>|<!-- ciguard-(?:fp: [gv]1:[0-9a-f]{16}|status: ciguard) -->"
)
INVISIBLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]")


def obeyed(output: str) -> list[str]:
    """Return the lines that GitHub's runner would take for commands."""
    token = ""
    commands = []
    for line in re.split(r"\r\n|\n|\r", output):
        if token:
            token = "" if line.strip() == f"::{token}::" else token
            continue
        found = COMMAND.match(line)
        if found and found["name"] == "stop-commands":
            token = line.strip().removeprefix("::stop-commands::")
        elif found:
            commands.append(line)
    return commands


def poison(baseline: Path) -> None:
    """Write hostile text wherever a baseline holds text of a library.

    API and fingerprint become unknown ones: what is known of them is shown, and not met again.
    """
    path = baseline / "buckets.jsonl"
    header, *records = path.read_text("utf-8").splitlines()
    poisoned = [_poisoned(json.loads(record)) for record in records]
    path.write_text("\n".join([header, *map(json.dumps, poisoned)]) + "\n", "utf-8")
    corpus = baseline / "corpus.jsonl"
    cases = [json.loads(line) for line in corpus.read_text("utf-8").splitlines()]
    for stored in cases:
        stored["case"][0] = GONE
        stored["fingerprint"] = _another(stored["fingerprint"])
    corpus.write_text("".join(f"{json.dumps(stored)}\n" for stored in cases), "utf-8")


def _poisoned(tree: object) -> object:
    if not isinstance(tree, dict):
        return tree
    changed = {"message": HOSTILE, "log": HOSTILE, "detail": HOSTILE, "api": GONE}
    if "fingerprint" in tree:
        changed["fingerprint"] = _another(tree["fingerprint"])
    return {key: changed.get(key, _poisoned(value)) for key, value in tree.items()}


def _another(fingerprint: str) -> str:
    version, _, digits = fingerprint.partition(":")
    return f"{version}:{digits[::-1]}"


def test_hostile_text_of_a_baseline_is_no_workflow_command(tmp_path: Path) -> None:
    assert answer(campaign(*QUICK), tmp_path).returncode == 0
    poison(tmp_path / ".ciguard" / "baseline")
    step_summary = tmp_path / "step-summary.md"

    done = answer(
        campaign(*QUICK),
        tmp_path,
        GITHUB_ACTIONS="true",
        GITHUB_STEP_SUMMARY=str(step_summary),
    )

    commands = obeyed(done.stdout)
    assert done.returncode in {0, 1}, done.stderr
    assert commands, "groups at least"
    names = {match["name"] for line in commands if (match := COMMAND.match(line))}
    assert names <= OURS
    assert not [line for line in commands if line.startswith(("::error file=a", "##["))]
    known = [b for b in lines_of(tmp_path / ".ciguard/run/buckets.jsonl") if b["api"] == GONE]
    assert {(b["comparison"], b["message"]) for b in known} == {("not run", HOSTILE)}
    assert obeyed(done.stderr) == []


@pytest.mark.parametrize(
    "words",
    [
        ("--api", HOSTILE),
        ("--exclude", "*", "--api", "\n::error::PWNED"),
        ("--target", f"torch=={HOSTILE}"),
        ("--target", "\n::error::PWNED"),
        ("--out", "a\n::error::PWNED"),
        ("--level", "\n::error::PWNED"),
    ],
)
def test_hostile_settings_are_no_workflow_commands(tmp_path: Path, words: tuple[str, ...]) -> None:
    argv = campaign(*QUICK, *words)

    done = answer(argv, tmp_path, GITHUB_ACTIONS="true")

    assert [line for line in obeyed(done.stdout) if "PWNED" in line.partition("::")[0]] == []
    assert not [line for line in obeyed(done.stdout + done.stderr) if line.startswith("::error::P")]


def test_the_token_of_the_job_reaches_no_worker_and_no_file(tmp_path: Path) -> None:
    out = tmp_path / "out"
    tokens = {"GITHUB_TOKEN": SECRET, "ACTIONS_RUNTIME_TOKEN": SECRET, "NPM_PASSWORD": SECRET}
    argv = campaign("--out", "out", "--api", "planted.environment", "--max-cases", "480")
    seen: dict[int, bytes] = {}
    with started(argv, tmp_path, **tokens) as process:
        assert wait_until(lambda: is_under_way(out)), process.communicate()
        for pid in descendants(process.pid):
            seen[pid] = _environment_and_command(pid)
        stdout, stderr = process.communicate(timeout=120)

    assert process.returncode == 0, stderr
    assert len(seen) >= 4, "two servers, each with a worker"
    assert [pid for pid, text in seen.items() if SECRET.encode() in text] == []
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) > 8
    assert [path for path in files if SECRET.encode() in path.read_bytes()] == []
    assert SECRET not in stdout + stderr
    # The two targets differ by a variable, so what a call sees of its environment is on record.
    (shown,) = [b for b in lines_of(out / "buckets.jsonl") if b["api"] == "planted.environment"]
    assert "PYTHONHASHSEED" in json.dumps(shown["outcomes"])
    assert not [name for name in tokens if name in json.dumps(shown["outcomes"])]


def _environment_and_command(pid: int) -> bytes:
    try:
        texts = [Path(f"/proc/{pid}/{name}").read_bytes() for name in ("environ", "cmdline")]
    except OSError:
        return b""  # it ended meanwhile
    return b"\0".join(texts)


# --- what a hostile library says, in everything that a person or a program reads -----------------


class Told:
    """Everything that one run has written, on disk, in its log and on GitHub."""

    def __init__(self, folder: Path, log: str, server: GitHubServer) -> None:
        self.folder = folder
        self.log = log
        self.repository = server.repository
        (self.check,) = server.checks.runs
        self.annotations = server.checks.annotations[self.check["id"]]

    def text(self, name: str) -> str:
        """Return a report, which is whole and bounded."""
        path = self.folder / name
        assert path.stat().st_size < BOUND_BYTES, name
        return path.read_text("utf-8")

    def markdown(self) -> Iterator[tuple[str, str]]:
        """Yield everything that GitHub renders, by name."""
        yield "summary.md", self.text("summary.md")
        yield "check run", self.check["output"]["summary"]
        for number, issue in self.repository.issues.items():
            yield f"body of {number}", issue.latest["body"] or ""
            for comment in issue.comments:
                yield f"comment on {number}", comment["body"]


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Told]:
    """Return what one run on a hostile library has told: parts, merge, issues, check, comment."""
    folder = tmp_path_factory.mktemp("hostile")
    wheel = planted_wheel(folder / "wheels", "1.0", checked=CHECKED)
    quick = ("run", "--target", str(wheel), "--budget", "20s")
    head = "a" * 40
    with GitHubServer() as server:
        server.repository.create_issue({"title": "a pull request"}, "")
        server.repository.heads[1] = head
        there: dict[str, Any] = {
            "GITHUB_ACTIONS": "true",
            "GITHUB_API_URL": server.address(),
            "GITHUB_REPOSITORY": NAME,
            "GITHUB_TOKEN": TOKEN,
        }
        known = command(*quick, "--api", "planted.double", "--max-cases", "64")
        assert answer(known, folder).returncode == 0
        part = command(*quick, "--api", "planted.checked", "--max-cases", "320", "--part")
        done = answer([*part, "--out", "part"], folder, GITHUB_ACTIONS="true")
        assert done.returncode == 0, done.stderr
        filed = ("--issues", f"github:{NAME}", "--issues-per-run", "1")  # of the rest, a list
        judged = answer(command("merge", "part", *filed), folder, **there)
        assert judged.returncode == 1, judged.stderr
        words = ("publish", "--check", "--comment", "--pull-request", "1", "--head-sha", head)
        shown = answer(command(*words), folder, **there)
        assert shown.returncode == 0, shown.stderr
        logs = (done.stdout, done.stderr, judged.stdout, judged.stderr, shown.stdout, shown.stderr)
        yield Told(folder / ".ciguard" / "run", "".join(logs), server)
    assert server.violations == []


@pytest.mark.slow
def test_every_hostile_text_was_used(told: Told) -> None:
    kinds = {bucket["kind"] for bucket in lines_of(told.folder / "buckets.jsonl")}

    assert len(kinds) == len(SPELLS)
    assert len(told.repository.issues) > 1, "beside the pull request"


def test_rendered_markdown_is_inert_and_bounded(told: Told) -> None:
    rendered = dict(told.markdown())

    assert {name.split(" ")[0] for name in rendered} == {"summary.md", "check", "body", "comment"}
    for name, text in rendered.items():
        assert len(text) <= (1 << 20 if name == "summary.md" else 65_535), name
        assert not INVISIBLE.search(text), name
        for token in tokens_of(text):
            assert token.type != "image", name
            if token.type == "link_open":
                assert str(token.attrs["href"]).startswith(f"https://github.com/{NAME}/"), name
            if token.type in {"html_inline", "html_block"}:
                assert "<" not in ELEMENT.sub("", token.content), (name, token.content)
            if token.type == "heading_open":
                assert "PWNED" not in token.content, name
            if token.type == "text":
                assert not re.search(r"[@#]\w|\bGH-\d", token.content), (name, token.content)


def test_log_has_only_workflow_commands_of_ciguard(told: Told) -> None:
    commands = obeyed(told.log)

    named = [(match["name"], line) for line in commands if (match := COMMAND.match(line))]
    assert {name for name, _ in named} <= OURS
    said = [line for name, line in named if name in {"error", "warning", "notice"}]
    assert len(said) >= len(SPELLS)
    assert all(
        re.match(r"::(?:error|warning|notice) (?:file=[\w./]+,line=1,)?title=", s) for s in said
    )
    assert max(map(len, said)) < 4_200
    assert len(told.log) < BOUND_BYTES
    assert not INVISIBLE.search(told.log)


def test_annotations_of_the_check_run_are_lines_of_text(told: Told) -> None:
    assert len(told.annotations) == len(SPELLS)
    for one in told.annotations:
        assert (one["path"], one["start_line"]) == ("ciguard.toml", 1)
        assert len(one["title"]) < 256
        assert len(one["message"]) < 4_096
        assert one["message"].isprintable()
    assert told.check["conclusion"] == "failure"
    assert told.check["output"]["title"].isprintable()


def test_sarif_and_junit_are_valid_and_hold_no_foreign_links(told: Told) -> None:
    log = json.loads(told.text("report.sarif"))
    schema = json.loads((SCHEMAS / "sarif-2.1.0.json").read_text("utf-8"))
    junit = told.text("junit.xml")

    assert [error.message for error in Draft4Validator(schema).iter_errors(log)] == []
    messages = [result["message"]["text"] for result in log["runs"][0]["results"]]
    assert len(messages) == len(SPELLS)
    assert not [m for m in messages if "](" in m or not m.isprintable()]
    assert not [m for m in messages if re.search(r"(?<!\{)\{\d+\}(?!\})", m)]
    xmlschema.XMLSchema(str(SCHEMAS / "junit-10.xsd")).validate(junit)
    assert junit.count("<failure") == len(SPELLS)


def test_the_page_has_no_element_that_the_library_named(told: Told) -> None:
    page = _Page()
    page.feed(told.text("report.html"))
    page.close()

    assert not page.tags & {"img", "iframe", "object", "base", "embed"}
    assert not [name for name in page.attributes if name.startswith("on")]
    assert "PWNED" not in page.running
    assert any("PWNED" in text for text in page.inert), "it is there to read"
    assert not any(
        INVISIBLE.search(json.dumps(json.loads(t), ensure_ascii=False)) for t in page.inert
    )


class _Page(HTMLParser):
    """Elements and scripts of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.running = ""
        self.inert: list[str] = []
        self._is_inert = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self._is_inert = dict(attrs).get("type") == "application/json"
        if self._is_inert:
            self.inert.append("")

    def handle_data(self, data: str) -> None:
        if self.cdata_elem and self._is_inert:
            self.inert[-1] += data
        elif self.cdata_elem:
            self.running += data


def test_secrets_in_paths_and_urls_are_not_published(told: Told) -> None:
    published = [text for _, text in told.markdown()]
    published += [one["message"] for one in told.annotations]
    published += [told.text(name) for name in ("report.sarif", "report.html", "junit.xml")]

    assert not [text for text in published if TOKEN in text]
    for secret in ("ghs_planted", "hunter2"):
        assert not [text[:80] for text in published if secret in text]


def test_programs_read_back_what_was_written(told: Told) -> None:
    run = json.loads(told.text("run.json"))

    assert (run["verdict"], run["exit_code"]) == ("NEW FINDINGS", 1)
    assert run["buckets"]["new"] == len(SPELLS)
    for name in ("findings.jsonl", "buckets.jsonl", "parts.jsonl"):
        assert told.text(name).endswith("\n")
        assert lines_of(told.folder / name), name
