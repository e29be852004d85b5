"""Campaigns on targets with planted defects: what the benchmarks of several levels share."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from uv import find_uv_bin

from ciguard.errors import ExitCode
from ciguard.reports import read_buckets

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ciguard.domain.findings import Bucket

_HERE = Path(__file__).parent
_DIST = _HERE / "dist"
"""Stays, so that `ciguard reproduce` finds the target of a run that was kept."""


def built_wheel(package: str) -> Path:
    """Return a package of defects that lies beside this file, built anew."""
    source = _HERE / package
    command = [find_uv_bin(), "build", "--quiet", "--wheel", "--out-dir", str(_DIST), str(source)]
    subprocess.run(command, check=True)
    (wheel,) = _DIST.glob(f"{package}-*.whl")
    return wheel


def planting_parser(about: str | None, *, budget: str, recall: float) -> argparse.ArgumentParser:
    """Return a parser of the options that every such benchmark has.

    Args:
        about: docstring of the benchmark; its first line is shown.
        budget: of one campaign, unless told.
        recall: share of the defects that must be found, unless told.
    """
    parser = argparse.ArgumentParser(description=(about or "").partition("\n")[0])
    parser.add_argument("--only", action="append", help="name of a defect; more than once")
    parser.add_argument("--budget", default=budget, help="of one campaign")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--no-control", action="store_true", help="leave out the healthy run")
    parser.add_argument("--recall", type=float, default=recall, help="share that must be found")
    parser.add_argument("--out", type=Path, help="keep the runs' results here")
    return parser


def campaign(
    level: str,
    targets: Sequence[str],
    options: argparse.Namespace,
    out: Path,
    further: Iterable[tuple[str, str]] = (),
) -> list[Bucket]:
    """Run `ciguard run` to its end and return its buckets.

    Args:
        level: that is run.
        targets: as they are written.
        options: of the benchmark: budget, seed, jobs.
        out: folder for the results.
        further: flags of the command with their values.

    Raises:
        SystemExit: if the run does not end with a verdict.
    """
    command = [sys.executable, "-m", "ciguard", "run", "--level", level]
    command += ["--budget", options.budget, "--seed", str(options.seed), "--out", str(out)]
    command += ["--jobs", str(options.jobs), "--baseline", str(out / "baseline")]
    command += ["--tracker", str(out / "issues")]
    for flag, value in (*(("--target", target) for target in targets), *further):
        command += [flag, value]
    ended = subprocess.run(command, check=False)
    if ended.returncode not in {ExitCode.CLEAN, ExitCode.FINDINGS}:
        sys.exit(ended.returncode)
    return read_buckets(out)


def print_buckets(title: str, buckets: Sequence[Bucket]) -> None:
    """Print how many buckets there are of a sort, and a line for each."""
    print(f"{title}: {len(buckets)}")
    for bucket in buckets:
        finding = bucket.finding
        who = finding.targets[-1] if finding.targets else ""
        print(f"  {bucket.fingerprint[:16]} {finding.api} on {who}: {finding.message:.150}")
