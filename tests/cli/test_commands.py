from __future__ import annotations

import json
import os
import re
import runpy
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import click
import pytest
from baseline_examples import record, sighting
from command_server import answer
from published_schemas import schema_violations
from snapshot import assert_matches

from ciguard.baseline import State, accept
from ciguard.baseline.store import FolderStore
from ciguard.cli.commands import SECTIONS
from ciguard.cli.commands import ciguard as command_line
from ciguard.config import SETTINGS

Answer = subprocess.CompletedProcess[str]
Command = Callable[..., Answer]
Check = Callable[[Answer], None]

ROOT = Path(__file__).parents[2]
LIBRARIES = {"torch", "tensorflow", "jittor", "keras", "jax"}


def _bucket(fingerprint: str, **changes: object) -> str:
    encoded: dict[str, object] = {
        "fingerprint": fingerprint,
        "schema": 1,
        "level": "api",
        "oracle": "crash",
        "kind": "signal",
        "severity": "critical",
        "library": "torch",
        "api": "torch.add",
        "targets": ["torch==2.13.0"],
        "pair": "",
        "message": "torch.add ends the process \x1b[31m(SIGSEGV)",
        "detail": "",
        "outcomes": {
            "torch==2.13.0": {
                "status": "crashed",
                "cause": "SIGSEGV",
                "stack": [["torch/x.py", "add"]],
                "log": "free(): invalid pointer\n::set-output name=x::y\n",
            }
        },
        "case": ["torch.add", "function", [1, 2], [], [], 0, "conforming", ""],
        "count": 3,
        "confirmed": True,
        "confirmation": "confirmed",
        "comparison": "new",
        "reproducer": "",
        "reproduced": False,
        "grouping": [["symptom", "memory corruption"]],
    }
    return json.dumps({**encoded, **changes}) + "\n"


@pytest.fixture
def ciguard(tmp_path: Path) -> Command:
    """Run the real command in a folder of its own."""

    def run(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        given = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1", **variables}
        return answer(*words, folder=tmp_path, variables=given)

    return run


@pytest.fixture
def matches_snapshot(
    request: pytest.FixtureRequest, tmp_path: Path
) -> Callable[[subprocess.CompletedProcess[str]], None]:
    """Compare a command's whole answer with the snapshot named after the test."""

    def check(answer: subprocess.CompletedProcess[str]) -> None:
        shown = f"exit {answer.returncode}\n--- stdout\n{answer.stdout}--- stderr\n{answer.stderr}"
        name = request.node.name.removeprefix("test_").replace("[", "-").replace("]", "")
        assert_matches(name, shown, folder=tmp_path)

    return check


@pytest.fixture
def run_folder(tmp_path: Path) -> Path:
    folder = tmp_path / ".ciguard" / "run"
    (folder / "reproducers").mkdir(parents=True)
    (folder / "reproducers" / "a.py").write_text("import torch\ntorch.add(1, 2)\n", "utf-8")
    (folder / "buckets.jsonl").write_text(
        _bucket("v1:abcd000000000001", reproducer="reproducers/a.py", reproduced=True)
        + _bucket("v1:abcd000000000002", comparison="known", severity="high", api="torch.sub"),
        "utf-8",
    )
    return folder


@pytest.mark.parametrize(
    "command",
    [
        "",
        "run",
        "plan",
        "show",
        "reproduce",
        "minimize",
        "merge",
        "cluster",
        "publish",
        "accept",
        "baseline",
        pytest.param("baseline prune", id="baseline-prune"),
        pytest.param("baseline promote", id="baseline-promote"),
        "bisect",
        "explain",
        "extract",
        "targets",
        "config",
        "version",
    ],
)
def test_help(command: str, ciguard: Command, matches_snapshot: Check) -> None:
    matches_snapshot(ciguard(*command.split(), "--help"))


def test_baseline_url_with_a_password(ciguard: Command, matches_snapshot: Check) -> None:
    matches_snapshot(ciguard("run", "--baseline", "git+https://me:s3cret@host/x.git"))


def test_compare_only_without_a_baseline(ciguard: Command, matches_snapshot: Check) -> None:
    matches_snapshot(ciguard("run", "--compare-only"))


def test_baseline_show_of_an_empty_baseline(ciguard: Command, matches_snapshot: Check) -> None:
    matches_snapshot(ciguard("baseline", "show"))


def test_version(ciguard: Command, matches_snapshot: Check) -> None:
    matches_snapshot(ciguard("version"))


def test_unknown_command(ciguard: Command, matches_snapshot: Check) -> None:
    matches_snapshot(ciguard("rnu"))


def test_unknown_option(ciguard: Command, matches_snapshot: Check) -> None:
    matches_snapshot(ciguard("run", "--bugdet", "3m"))


def test_wrong_value_of_a_flag(ciguard: Command, matches_snapshot: Check) -> None:
    matches_snapshot(ciguard("run", "--budget", "3 parsecs"))


def test_unknown_key_in_a_file(ciguard: Command, matches_snapshot: Check, tmp_path: Path) -> None:
    (tmp_path / "ciguard.toml").write_text('buget = "3m"\n', "utf-8")

    matches_snapshot(ciguard("run"))


def test_invalid_target_exits_with_2_and_a_suggestion(ciguard: Command) -> None:
    answer = ciguard("run", "--target", "troch==2.13.0")

    assert answer.returncode == 2
    assert "ciguard: error: target 'troch==2.13.0'" in answer.stderr
    assert "Did you mean 'torch'?" in answer.stderr


def test_config(ciguard: Command, matches_snapshot: Check, tmp_path: Path) -> None:
    (tmp_path / "ciguard.toml").write_text('seed = 5\ntargets = ["current"]\n', "utf-8")

    matches_snapshot(ciguard("config", "--budget", "10m", CIGUARD_FAIL_ON="high"))


def test_config_json(ciguard: Command, matches_snapshot: Check) -> None:
    printed = ciguard("config", "--json", "--seed", "3")

    assert schema_violations("config", json.loads(printed.stdout)) == []
    matches_snapshot(printed)


def test_show_without_a_run(ciguard: Command, matches_snapshot: Check) -> None:
    matches_snapshot(ciguard("show"))


@pytest.mark.usefixtures("run_folder")
def test_show_lists_buckets(ciguard: Command, matches_snapshot: Check) -> None:
    matches_snapshot(ciguard("show"))


@pytest.mark.parametrize("command", ["reproduce", "minimize", "bisect"])
def test_measured_bucket_cannot_be_reproduced_by_one_call(
    ciguard: Command, tmp_path: Path, command: str
) -> None:
    folder = tmp_path / ".ciguard" / "run"
    folder.mkdir(parents=True)
    line = _bucket("v1:abcd000000000001", oracle="performance", kind="slower", pair="version")
    (folder / "buckets.jsonl").write_text(line, "utf-8")

    answer = ciguard(command, "abcd")

    assert answer.returncode == 2
    assert "found by measuring (slower)" in answer.stderr


@pytest.mark.usefixtures("run_folder")
def test_show_prints_all_details_of_one_bucket(ciguard: Command, matches_snapshot: Check) -> None:
    matches_snapshot(ciguard("show", "abcd000000000001"))


def test_show_prints_the_stack_and_history_of_a_crash(
    ciguard: Command, matches_snapshot: Check, tmp_path: Path
) -> None:
    _crash_of_two_apis(tmp_path)

    matches_snapshot(ciguard("show", "abcd000000000001"))


def test_accept_of_a_cause_accepts_all_its_known_buckets(ciguard: Command, tmp_path: Path) -> None:
    _crash_of_two_apis(tmp_path)
    store = FolderStore(tmp_path / ".ciguard" / "baseline")
    store.save({"v2:abcd000000000002": record("v2:abcd000000000002", day=1)})
    name = re.findall(r"\((g1:[0-9a-f]{16})\)", ciguard("show", "abcd000000000002").stdout)[0]

    answer = ciguard("accept", name[:8], "--because", "by design")

    assert answer.stdout.splitlines() == [
        "v2:abcd000000000001 torch.add: accepted.",
        "v2:abcd000000000002 torch.sub: accepted.",
    ]
    assert {known.state for known in store.load().values()} == {State.ACCEPTED}


@pytest.mark.parametrize("command", [["accept", "--because", "by design"], ["bisect"]])
def test_accept_of_an_unknown_cause_is_rejected(
    ciguard: Command, tmp_path: Path, command: list[str]
) -> None:
    _crash_of_two_apis(tmp_path)

    answer = ciguard(*command, "g1:0000")

    assert answer.returncode == 2
    assert "group 'g1:0000': none of the 2 buckets in" in answer.stderr


def test_show_grouping_prints_the_parts_of_a_fingerprint(
    ciguard: Command, matches_snapshot: Check, tmp_path: Path
) -> None:
    _crash_of_two_apis(tmp_path)

    # By an older name: it still leads to the bucket.
    matches_snapshot(ciguard("show", "01d0", "--grouping"))


def test_show_grouping_needs_a_bucket(ciguard: Command) -> None:
    answer = ciguard("show", "--grouping")

    assert answer.returncode == 2
    assert "--grouping needs a bucket" in answer.stderr


def _crash_of_two_apis(folder: Path) -> None:
    """Leave a run whose two buckets are one native fault, and a baseline that knows the first."""
    out = folder / ".ciguard" / "run"
    out.mkdir(parents=True)
    stack = [["libtorch_cpu.so", "at::native::add_kernel"]]
    told = {"aliases": ["v1:01d0000000000000"], "native_stack": stack}
    lines = [
        _bucket("v2:abcd000000000001", comparison="accepted", **told),
        _bucket("v2:abcd000000000002", comparison="known", api="torch.sub", native_stack=stack),
    ]
    (out / "buckets.jsonl").write_text("".join(lines), "utf-8")
    first = replace(record("v2:abcd000000000001", day=1), aliases=("v1:01d0000000000000",))
    known = {first.fingerprint: replace(first, last_seen=sighting(9))}
    accepted = accept(known, first.fingerprint, because="by design", time="2026-01-05T10:00:00Z")
    FolderStore(folder / ".ciguard" / "baseline").save(accepted)


@pytest.mark.usefixtures("run_folder")
def test_show_rejects_an_ambiguous_prefix(ciguard: Command, matches_snapshot: Check) -> None:
    matches_snapshot(ciguard("show", "v1:abcd"))


@pytest.mark.usefixtures("run_folder")
def test_show_rejects_an_unknown_prefix(ciguard: Command, matches_snapshot: Check) -> None:
    matches_snapshot(ciguard("show", "beef"))


def test_show_of_a_damaged_file_names_the_line(
    ciguard: Command, matches_snapshot: Check, run_folder: Path
) -> None:
    (run_folder / "buckets.jsonl").write_text("{}\n", "utf-8")

    matches_snapshot(ciguard("show"))


def test_targets_list_of_an_empty_cache(
    ciguard: Command, matches_snapshot: Check, tmp_path: Path
) -> None:
    matches_snapshot(ciguard("targets", "list", CIGUARD_CACHE=str(tmp_path / "cache")))


def test_internal_error_writes_a_traceback_and_exits_with_3(
    ciguard: Command, tmp_path: Path
) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import ciguard.cli.show as s\n"
        "def broken(config): raise ZeroDivisionError('planted')\n"
        "s.all_buckets = broken\n",
        "utf-8",
    )

    answer = ciguard("show", "--out", "there", PYTHONPATH=str(tmp_path))

    assert answer.returncode == 3
    assert "ciguard: error: ZeroDivisionError: planted" in answer.stderr
    assert "there/internal-error.txt" in answer.stderr
    written = (tmp_path / "there" / "internal-error.txt").read_text("utf-8")
    assert "Traceback" in written
    assert "planted" in written


@pytest.mark.usefixtures("run_folder")
def test_closed_pipe_is_not_reported_as_findings(tmp_path: Path) -> None:
    command = '"$0" -u -m ciguard show abcd000000000001 | true; echo "${PIPESTATUS[0]}"'

    answer = subprocess.run(
        ["/bin/bash", "-c", command, sys.executable],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert answer.stdout.strip() in {"141", "0"}
    assert "Traceback" not in answer.stderr


def test_help_imports_no_heavy_packages() -> None:
    program = (
        "import sys; from ciguard.cli import main; code = main(['--help']);"
        "print(*sorted({name.partition('.')[0] for name in sys.modules}), file=sys.stderr);"
        "sys.exit(code)"
    )

    answer = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )

    assert answer.returncode == 0
    assert not set(answer.stderr.split()) & (LIBRARIES | {"numpy", "rich", "hypothesis"})


def test_generated_pages_are_up_to_date() -> None:
    generator = runpy.run_path(str(ROOT / "docs" / "generate.py"))

    for page, text in generator["pages"]().items():
        assert page.read_text("utf-8") == text, f"{page.name} has drifted: `make pages`"


def test_readme_names_only_existing_settings() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    variables = {setting.variable for setting in SETTINGS.values()} | {"CIGUARD_CACHE"}

    assert set(re.findall(r"CIGUARD_\w+", text)) <= variables


@pytest.mark.parametrize("group", ["api", "function", "app"])
def test_commands_of_a_level_keep_their_old_names_as_aliases(group: str) -> None:
    context = click.Context(command_line)
    grouped = command_line.get_command(context, group)
    assert isinstance(grouped, click.Group)

    for name in grouped.list_commands(context):
        command, alias = grouped.get_command(context, name), command_line.get_command(context, name)
        assert command is not None
        assert alias is not None
        assert alias.hidden
        assert not command.hidden
        assert alias.callback is command.callback


def test_every_visible_command_is_listed_in_a_section() -> None:
    listed = {command.name for commands in SECTIONS.values() for command in commands}

    assert {name for name, command in command_line.commands.items() if not command.hidden} <= listed
