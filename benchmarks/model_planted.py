"""Recall: known defects planted into layers on one backend; which ones does level `model` find?

    python benchmarks/model_planted.py [--only NAME] [--budget 4m] [--seed 0] [--jobs 1] [--out DIR]

For each group of defects one campaign of `ciguard run --level model`: Keras on healthy backends,
and on torch with the defects of `model_defects`. At last, one on two targets that are torch as it
is. Ends with 1 if that one finds anything, if a layer without a defect is blamed, or if less is
found than `--recall` and `--right` ask for.
"""

from __future__ import annotations

import shlex
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from model_defects import GROUPS
from model_recall import Found, Recall, recall_of
from planted_campaign import built_wheel, campaign, planting_parser, print_buckets

from ciguard.domain.models import ModelCase
from ciguard.targets import parse_target

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator, Sequence

    from model_defects import Defect

    from ciguard.domain.findings import Bucket

HEALTHY = ("keras==3.15.1 + tensorflow-cpu==2.21.0", "keras==3.15.1 + torch==2.13.0")
"""Without jax, which compiles every layer anew: several times as many mutants in the same time."""
PLANTED = "keras==3.15.1 + torch==2.13.0"
MODELS = ("lenet5-mnist", "lstm-sine")
SUPPORT = ("Dense", "Reshape", "Flatten", "Discretization", "Activation", "Cropping2D")
"""Layers without a defect that mutants are made of as well: bundles need them."""


def restriction(defects: Sequence[Defect]) -> Iterator[tuple[str, str]]:
    """Yield the flags by which mutants are made of layers with these defects, and a few others."""
    for model in MODELS:
        yield "--model", model
    for name in dict.fromkeys((*SUPPORT, *(layer for one in defects for layer in one.layers))):
        yield "--api", f"keras.layers.{name}"
    yield "--api", "keras.activations.*"


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
        print_buckets(title, buckets)


def main() -> int:
    """Run the benchmark; exit 1 when it finds too little, or something where nothing is."""
    parser = planting_parser(__doc__, budget="5m", recall=0.95)
    parser.add_argument("--healthy", action="append", help=f"targets beside it: {HEALTHY}")
    parser.add_argument("--target", default=PLANTED, help="that the defects are planted in")
    parser.add_argument("--right", type=float, default=0.9, help="share with the right layer")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        return _measured(options, options.out or Path(folder))


def _measured(options: Namespace, out: Path) -> int:
    # One environment with and without: the variable alone plants.
    right = f"{options.target} + {shlex.quote(str(built_wheel('model_defects')))}"
    healthy = tuple(options.healthy or HEALTHY)
    recall = Recall()
    for number, group in enumerate(GROUPS, 1):
        chosen = [one for one in group if not options.only or one.name in options.only]
        if not chosen:
            continue
        planted = f"{right} MODEL_DEFECTS={','.join(one.name for one in chosen)}"
        results = out / f"group-{number}"
        buckets = campaign("model", (*healthy, planted), options, results, restriction(chosen))
        recall += recall_of(buckets, chosen, results, planted=parse_target(planted).name)
    if recall.defects:
        print_table(recall)
    stray: list[Bucket] = []
    if not options.no_control:
        everything = [one for group in GROUPS for one in group]
        equals = (options.target, right)
        stray = campaign("model", equals, options, out / "control", restriction(everything))
        print(f"\nwithout defects: {len(stray)} findings")
    found = sum(one.is_found for one in recall.defects)
    is_enough = found >= options.recall * len(recall.defects)
    is_right = sum(one.is_right for one in recall.defects) >= options.right * found
    return int(bool(stray or recall.misplaced) or not is_enough or not is_right)


if __name__ == "__main__":
    sys.exit(main())
