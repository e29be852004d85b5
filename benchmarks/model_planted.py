"""Recall: known defects planted into layers on one backend; which ones does level `model` find?

    python benchmarks/model_planted.py [--only NAME] [--budget 4m] [--seed 0] [--jobs 1] [--out DIR]

For each group of defects one campaign of `ciguard run --level model`: Keras on healthy backends,
and on torch with the defects of `model_defects`. At last, one on two targets that are torch as it
is. Ends with 1 if that one finds anything, if a layer without a defect is blamed, or if less is
found than `--recall` and `--right` ask for.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from model_defects import GROUPS
from model_recall import Found, Recall, recall_of
from uv import find_uv_bin

from ciguard.domain import ModelCase
from ciguard.errors import ExitCode
from ciguard.reports import read_buckets
from ciguard.targets import parse_target

if TYPE_CHECKING:
    from collections.abc import Sequence

    from model_defects import Defect

    from ciguard.domain import Bucket

PACKAGE = Path(__file__).parent / "model_defects"
DIST = Path(__file__).parent / "dist"
"""Stays, so that `ciguard reproduce` finds the target of a run that was kept."""
HEALTHY = ("keras==3.15.1 + tensorflow-cpu==2.21.0", "keras==3.15.1 + torch==2.13.0")
"""Without jax, which compiles every layer anew: several times as many mutants in the same time."""
PLANTED = "keras==3.15.1 + torch==2.13.0"
MODELS = ("lenet5-mnist", "lstm-sine")
SUPPORT = ("Dense", "Reshape", "Flatten", "Discretization", "Activation", "Cropping2D")
"""Layers without a defect that mutants are made of as well: bundles need them."""


def built_wheel() -> Path:
    """Return the package of the defects, built anew."""
    command = [find_uv_bin(), "build", "--quiet", "--wheel", "--out-dir", str(DIST), str(PACKAGE)]
    subprocess.run(command, check=True)
    (wheel,) = DIST.glob("model_defects-*.whl")
    return wheel


def campaign(
    targets: Sequence[str], defects: Sequence[Defect], options: argparse.Namespace, out: Path
) -> list[Bucket]:
    """Run the command to its end and return its buckets.

    Raises:
        SystemExit: if the run does not end with a verdict.
    """
    command = [sys.executable, "-m", "ciguard", "run", "--level", "model"]
    command += ["--budget", options.budget, "--seed", str(options.seed), "--out", str(out)]
    command += ["--jobs", str(options.jobs), "--baseline", str(out / "baseline")]
    command += ["--tracker", str(out / "issues")]
    for target in targets:
        command += ["--target", target]
    for model in MODELS:
        command += ["--model", model]
    names = dict.fromkeys((*SUPPORT, *(layer for defect in defects for layer in defect.layers)))
    for name in names:
        command += ["--api", f"keras.layers.{name}"]
    command += ["--api", "keras.activations.*"]
    ended = subprocess.run(command, check=False)
    if ended.returncode not in {ExitCode.CLEAN, ExitCode.FINDINGS}:
        sys.exit(ended.returncode)
    return read_buckets(out)


def print_table(recall: Recall) -> None:
    """Print each defect, by what it was found, and after how many mutants."""
    heads = f"{'found':<7}{'right layer':<13}{'mutants':>8}   by"
    print(f"\n{'defect':<24}{'layer':<26}{heads}")
    for found in recall.defects:
        defect = found.defect
        layer = ", ".join(defect.layers) or f"activation {defect.activation}"
        yes = ("yes" if found.is_found else "NO", "yes" if found.is_right else "no")
        count = str(found.mutants or "")
        print(f"{defect.name:<24}{layer:<26}{yes[0]:<7}{yes[1]:<13}{count:>8}   {_ways(found)}")
    _print_totals(recall)


def _ways(found: Found) -> str:
    told = (bucket.finding for bucket in found.buckets)
    ways = {
        f"{one.oracle}: {one.kind} ({one.case.check})"
        for one in told
        if isinstance(one.case, ModelCase)
    }
    return ", ".join(sorted(ways))


def _print_totals(recall: Recall) -> None:
    count = len(recall.defects)
    found = sum(one.is_found for one in recall.defects)
    right = sum(one.is_right for one in recall.defects)
    print(f"\nfound: {found} of {count} ({found / count:.1%})")
    print(f"right layer: {right} of {found} found ({right / max(1, found):.1%})")
    for title, buckets in (
        ("blamed on a layer without a defect", recall.misplaced),
        ("Keras's own: targets without defects differ", recall.own),
        ("flaky or not confirmed in time", recall.unsettled),
    ):
        print(f"{title}: {len(buckets)}")
        for bucket in buckets:
            finding = bucket.finding
            who = finding.targets[-1] if finding.targets else ""
            print(f"  {bucket.fingerprint[:16]} {finding.api} on {who}: {finding.message:.150}")


def main() -> int:
    """Run the benchmark; exit 1 when it finds too little, or something where nothing is."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", action="append", help="name of a defect; more than once")
    parser.add_argument("--healthy", action="append", help=f"targets beside it: {HEALTHY}")
    parser.add_argument("--target", default=PLANTED, help="that the defects are planted in")
    parser.add_argument("--budget", default="5m", help="of one campaign; there are five")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--no-control", action="store_true", help="leave out the healthy run")
    parser.add_argument("--recall", type=float, default=0.95, help="share that must be found")
    parser.add_argument("--right", type=float, default=0.9, help="share with the right layer")
    parser.add_argument("--out", type=Path, help="keep the runs' results here")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        return _measured(options, options.out or Path(folder))


def _measured(options: argparse.Namespace, out: Path) -> int:
    # One environment with and without: the variable alone plants.
    right = f"{options.target} + {shlex.quote(str(built_wheel()))}"
    healthy = tuple(options.healthy or HEALTHY)
    recall = Recall()
    for number, group in enumerate(GROUPS, 1):
        chosen = [one for one in group if not options.only or one.name in options.only]
        if not chosen:
            continue
        planted = f"{right} MODEL_DEFECTS={','.join(one.name for one in chosen)}"
        results = out / f"group-{number}"
        buckets = campaign((*healthy, planted), chosen, options, results)
        recall += recall_of(buckets, chosen, results, planted=parse_target(planted).name)
    if recall.defects:
        print_table(recall)
    stray: list[Bucket] = []
    if not options.no_control:
        everything = [one for group in GROUPS for one in group]
        stray = campaign((options.target, right), everything, options, out / "control")
        print(f"\nwithout defects: {len(stray)} findings")
    found = sum(one.is_found for one in recall.defects)
    is_enough = found >= options.recall * len(recall.defects)
    is_right = sum(one.is_right for one in recall.defects) >= options.right * found
    return int(bool(stray or recall.misplaced) or not is_enough or not is_right)


if __name__ == "__main__":
    sys.exit(main())
