"""The files of the action and its workflows, as a test reads them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
ACTION = ROOT / "action.yml"
WORKFLOWS = tuple(sorted((ROOT / ".github" / "workflows").glob("*.yml")))


def parsed(path: Path) -> dict[str, Any]:
    """Return a file of YAML; `on` stays a word."""
    loaded: dict[str, Any] = yaml.load(path.read_text("utf-8"), Loader=yaml.BaseLoader)  # noqa: S506 - knows texts only
    return loaded


def steps_of(path: Path) -> list[dict[str, Any]]:
    """Return every step of an action or a workflow."""
    read = parsed(path)
    if "runs" in read:
        steps: list[dict[str, Any]] = read["runs"]["steps"]
        return steps
    return [step for job in read["jobs"].values() for step in job.get("steps", [])]
