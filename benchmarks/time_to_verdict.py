"""Time to verdict: from the first step of a pull request's first job to its check.

    python benchmarks/time_to_verdict.py [--budget 3m] [--kinds 'fork' ...] [--only warm]

Plays ten pull requests of different kinds of `examples/upgrade-guard` on the emulated GitHub of the
tests, with a real library: each job's steps run as on a runner, the plan, then its rows at the same
time as far as the clock counts, then the verdict. Warm: uv and pip have the packages, and the
environments of the targets are there, as on a runner that keeps them. Cold: none of that, but a
network. Prints seconds per kind, of which fuzzing and building of environments, CPU seconds of all
the rest, p50 and p95, and the machine's load. What GitHub takes to find a runner is not in it.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "examples"))

from action_file import ROOT
from action_scenarios import git
from example_project import example_files, hosted, initialised
from github_repository import WallClock
from github_server import GitHubServer
from hosted_project import FORK, HostedProject, this_checkout
from node_tools import Expressions
from planted_wheel import planted_wheel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from action_runner import Job, Step
    from hosted_project import HostedRun

MAX_P95_S = 300.0
_MAX_LOG = 4_000
"""Characters that are shown of a run that came to nothing."""
_FUZZING, _BUILDING = "Fuzz", "Build environments of targets"
_CACHES = ("CIGUARD_CACHE", "UV_CACHE_DIR", "PIP_CACHE_DIR")
_FEATURES = "src/tones/features.py"
_ADDED = '''

def loudest(recording: torch.Tensor) -> torch.Tensor:
    """Return the largest magnitude."""
    return torch.amax(torch.abs(recording), dim=-1)
'''
_ANNOTATED = '''"""Levels of recordings."""

import numpy as np
from ciguard.annotations import arg, floats, lists


@arg("samples", lists(floats(-1, 1), min_len=1, max_len=64))
def level(samples):
    """Return the root of the mean square."""
    return float(np.sqrt(np.mean(np.square(samples))))
'''
_LOCK = """version = 1
requires-python = ">=3.11"

[[package]]
name = "{name}"
version = "{version}"
source = {{ registry = "https://pypi.org/simple" }}
"""


@dataclass(frozen=True)
class Timing:
    """What one pull request took, in seconds."""

    kind: str
    verdict: str
    total: float
    fuzzing: float
    building: float
    """Of environments."""
    overhead_cpu_s: float
    """Of all other steps of all jobs. With a core to itself, they take no longer than that."""


def _read(project: HostedProject, name: str) -> str:
    return (project.folder / name).read_text("utf-8")


def _documentation(project: HostedProject) -> HostedRun:
    return project.judged(project.opened(**{"README.md": "words\n"}))


def _bump(project: HostedProject) -> HostedRun:
    upgraded = (project.folder.parent / "upgraded.txt").read_text("utf-8")
    return project.judged(project.opened(**{"requirements.txt": upgraded}))


def _source(project: HostedProject) -> HostedRun:
    return project.judged(project.opened(**{_FEATURES: _read(project, _FEATURES) + _ADDED}))


def _wheel(project: HostedProject) -> HostedRun:
    asked = project.opened(**{_FEATURES: _read(project, _FEATURES) + _ADDED})
    for name, version in (("head", "1.1"), ("base", "1.0")):
        planted_wheel(project.folder.parent / "built" / name, version, checked="return n")
    built = project.folder.parent / "built"
    wheels = {"wheel": str(built / "head" / "*.whl"), "base_wheel": str(built / "base" / "*.whl")}
    project.inputs = {"guard.yml": {"plugins": str(ROOT / "tests" / "planted"), **wheels}}
    return project.judged(asked)


def _function(project: HostedProject) -> HostedRun:
    settings = 'levels = ["function"]\nfunctions = ["src/tones/levels.py"]\n'
    configuration = _read(project, "ciguard.toml") + settings
    files = {"src/tones/levels.py": _ANNOTATED, "ciguard.toml": configuration}
    return project.judged(project.opened(**files))


def _fork(project: HostedProject) -> HostedRun:
    text = _read(project, _FEATURES) + _ADDED
    return project.judged(project.opened(repository=FORK, **{_FEATURES: text}))


def _queue(project: HostedProject) -> HostedRun:
    return project.queued(project.opened(**{_FEATURES: _read(project, _FEATURES) + _ADDED}))


def _configuration(project: HostedProject) -> HostedRun:
    text = _read(project, "ciguard.toml").replace("medium", "high")
    return project.judged(project.opened(**{"ciguard.toml": text}))


def _no_baseline(project: HostedProject) -> HostedRun:
    git(project.folder, "branch", "--move", "ciguard-baseline", "kept")
    run = project.judged(project.opened(**{_FEATURES: _read(project, _FEATURES) + _ADDED}))
    git(project.folder, "branch", "--move", "kept", "ciguard-baseline")
    return run


def _lock(project: HostedProject) -> HostedRun:
    upgraded = (project.folder.parent / "upgraded.txt").read_text("utf-8")
    locks = [_locked(text) for text in (_read(project, "requirements.txt"), upgraded)]
    git(project.folder, "rm", "--quiet", "requirements.txt")
    project.push(**{"uv.lock": locks[0]})
    return project.judged(project.opened(**{"uv.lock": locks[1]}))


def _locked(requirement: str) -> str:
    name, _, version = requirement.strip().partition("==")
    return _LOCK.format(name=name, version=version)


KINDS: dict[str, Callable[[HostedProject], HostedRun]] = {
    "documentation": _documentation,
    "requirement": _bump,
    "source": _source,
    "wheel": _wheel,
    "function": _function,
    "fork": _fork,
    "merge queue": _queue,
    "configuration": _configuration,
    "no baseline": _no_baseline,
    "lock file": _lock,
}


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=_Raw)
    parser.add_argument(
        "--budget", default="3m", help="of each pull request (default: %(default)s)"
    )
    parser.add_argument("--kinds", nargs="*", choices=KINDS, default=list(KINDS), metavar="KIND")
    parser.add_argument("--old", default="torch==2.12.0", help="required (default: %(default)s)")
    parser.add_argument("--new", default="torch==2.13.0", help="upgrade (default: %(default)s)")
    parser.add_argument("--only", choices=("warm", "cold"), help="measure one of the two")
    options = parser.parse_args()
    wanted = [options.only] if options.only else ["warm", "cold"]
    with tempfile.TemporaryDirectory() as name:
        measured = {state: _measured(Path(name) / state, options) for state in wanted}
    for state, timings in measured.items():
        _show(state, timings)
    slowest = _percentile([timing.total for timing in measured.get("warm", ())], 95)
    return int(slowest > MAX_P95_S)


class _Raw(argparse.RawDescriptionHelpFormatter):
    """Show the docstring as it is written."""


def _measured(folder: Path, options: argparse.Namespace) -> list[Timing]:
    """Run pull requests of all kinds in one repository with one baseline."""
    is_warm = folder.name == "warm"
    caches = {name: str(folder / "caches" / name) for name in _CACHES}
    (folder / "ciguard").mkdir(parents=True)
    clock = WallClock()
    with Expressions() as expressions, GitHubServer(clock=clock) as server:
        example = _adopted(folder, ciguard := this_checkout(folder / "ciguard"), options)
        project = hosted(example, ciguard, server, expressions)
        variables = {**project.github.variables, **caches}
        project.github = replace(project.github, variables=variables, keeps_installed=False)
        project.inputs = {"guard.yml": {"budget": "60s"}}
        print(f"{folder.name}: baseline {project.night().outputs['verdict']}", file=sys.stderr)
        _fill(caches, (options.old, options.new))
        project.inputs = {}
        return [_timed(project, kind, caches, is_warm=is_warm) for kind in options.kinds]


def _adopted(folder: Path, ciguard: Path, options: argparse.Namespace) -> Path:
    example = example_files(folder / "project")
    (folder / "upgraded.txt").write_text(f"{options.new}\n", "utf-8")
    (example / "requirements.txt").write_text(f"{options.old}\n", "utf-8")
    described = (example / "pyproject.toml").read_text("utf-8")
    name = options.old.partition("==")[0]
    (example / "pyproject.toml").write_text(described.replace("torch>=2.6", name), "utf-8")
    git(example, "add", ".")
    initialised(example, ciguard)
    path = example / "ciguard.toml"
    lines = path.read_text("utf-8").splitlines(keepends=True)
    kept = [line for line in lines if not line.startswith("budget")]
    path.write_text(f'budget = "{options.budget}"\n' + "".join(kept), "utf-8")
    git(example, "add", ".")
    git(example, "commit", "--quiet", "--message", "the project")
    return example


def _fill(caches: dict[str, str], targets: Sequence[str]) -> None:
    """Build the environments that a runner which keeps them would have."""
    words = [sys.executable, "-m", "ciguard", "targets", "sync"]
    variables = {**os.environ, **caches, "CIGUARD_TARGETS": "\n".join(targets)}
    with tempfile.TemporaryDirectory() as empty:
        subprocess.run(words, cwd=empty, env=variables, check=True, stdout=subprocess.DEVNULL)


def _timed(project: HostedProject, kind: str, caches: dict[str, str], *, is_warm: bool) -> Timing:
    if not is_warm:
        for path in caches.values():
            shutil.rmtree(path, ignore_errors=True)
    before = project.inputs
    run = KINDS[kind](project)
    project.inputs = before
    (call,) = run.calls.values()
    stages = [list(call.jobs[name].values()) for name in ("plan", "shard", "merge")]
    steps = [step for jobs in stages for job in jobs for step in _steps(job)]
    timing = Timing(
        kind,
        call.outputs["verdict"],
        total=sum(
            max((sum(s.seconds for s in job.steps) for job in jobs), default=0.0) for jobs in stages
        ),
        fuzzing=max((step.seconds for step in steps if step.name == _FUZZING), default=0.0),
        building=max((step.seconds for step in steps if step.name == _BUILDING), default=0.0),
        overhead_cpu_s=sum(s.cpu_s for s in steps if s.name not in {_FUZZING, _BUILDING}),
    )
    print(f"{kind}: {timing.verdict}, {timing.total:.0f} s", file=sys.stderr)
    if timing.verdict == "not-run":
        print(run.log[-_MAX_LOG:], file=sys.stderr)
    return timing


def _steps(job: Job) -> Iterator[Step]:
    """Yield the steps of a job; in place of a call of the action, those of the action."""
    for step in job.steps:
        yield from step.steps or (step,)


def _percentile(values: Iterable[float], percent: int) -> float:
    """Return the smallest value that so many per cent do not exceed; 0 for none."""
    ordered = sorted(values)
    return ordered[-(-len(ordered) * percent // 100) - 1] if ordered else 0.0


def _show(state: str, timings: Sequence[Timing]) -> None:
    print(f"{state}, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    columns = ("total", "fuzzing", "building", "rest CPU")
    print(f"{'pull request':16} {'verdict':18} " + " ".join(f"{name:>9}" for name in columns))
    for timing in timings:
        spent = (timing.total, timing.fuzzing, timing.building, timing.overhead_cpu_s)
        print(f"{timing.kind:16} {timing.verdict:18} " + " ".join(f"{s:8.0f}s" for s in spent))
    totals = [timing.total for timing in timings]
    print(f"p50 {_percentile(totals, 50):.0f} s, p95 {_percentile(totals, 95):.0f} s\n")


if __name__ == "__main__":
    sys.exit(main())
