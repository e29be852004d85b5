"""Recall: known defects planted into layers of PyTorch; which ones does level `code` find?

    python benchmarks/code_planted.py [--only NAME] [--budget 4m] [--seed 0] [--jobs 1] [--out DIR]

For each group of defects one campaign of `ciguard run --level code`: on torch with the defects of
`code_defects` alone, or beside torch as it is where that is what it takes to see them. At last, one
on torch as it is. Ends with 1 if that one finds anything, if a layer without a defect is blamed, or
if less is found, or less at the right line, than `--recall` and `--located` ask for.
"""

from __future__ import annotations

import shlex
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from code_defects import GROUPS
from code_recall import Recall, recall_of
from planted_campaign import built_wheel, campaign, planting_parser, print_buckets

from ciguard.targets import parse_target

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator, Sequence

    from code_defects import Defect, Group
    from code_recall import Found

    from ciguard.domain.findings import Bucket

PLANTED = "torch==2.13.0"
OTHERS = (
    "Conv2d", "AvgPool2d", "Linear", "Conv1d", "BatchNorm1d", "ReLU", "AdaptiveMaxPool1d",
    "Dropout",
)  # fmt: skip
"""Layers that the seed programs are made of, and that others stand in for, defect or not."""


def restriction(programs: Sequence[str], layers: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the flags by which programs are made of some layers and few others."""
    for program in programs:
        yield "--program", program
    for name in dict.fromkeys((*OTHERS, *layers)):
        yield "--api", f"torch.nn.{name}"


def print_table(recall: Recall) -> None:
    """Print each defect, by what it was found, and after how many programs."""
    heads = f"{'found':<7}{'line':<6}{'programs':>8}   by"
    print(f"\n{'defect':<22}{'kind':<22}{'layer':<32}{heads}")
    for found in recall.defects:
        defect = found.defect
        layer = ": ".join(filter(None, [defect.layer, defect.parameter]))
        yes = ("yes" if found.is_found else "NO", "yes" if found.is_located else "no")
        count = str(found.programs or "")
        about = f"{defect.name:<22}{defect.kind.value:<22}{layer:<32}"
        print(f"{about}{yes[0]:<7}{yes[1]:<6}{count:>8}   {_ways(found)}")
    total, known, located = _counts(recall)
    print(f"\nfound: {known} of {total} ({known / total:.1%})")
    print(f"at the line of the call: {located} of {known} found ({located / max(1, known):.1%})")
    print_buckets("blamed on a layer without a defect", recall.misplaced)
    print_buckets("torch's own: on a target without defects", recall.own)
    print_buckets("flaky or not confirmed in time", recall.unsettled)


def _counts(recall: Recall) -> tuple[int, int, int]:
    """Return how many defects were planted, found, and found at the right line."""
    found = [one for one in recall.defects if one.is_found]
    return len(recall.defects), len(found), sum(one.is_located for one in found)


def _ways(found: Found) -> str:
    told = (bucket.finding for bucket in found.buckets)
    return ", ".join(sorted({f"{one.oracle}: {one.kind}" for one in told}))


def main() -> int:
    """Run the benchmark; exit 1 when it finds too little, or something where nothing is."""
    parser = planting_parser(__doc__, budget="4m", recall=0.9)
    parser.add_argument("--target", default=PLANTED, help="that the defects are planted in")
    parser.add_argument("--located", type=float, default=0.9, help="share at the right line")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        return _measured(options, options.out or Path(folder))


def _measured(options: Namespace, out: Path) -> int:
    # One environment with and without: the variable alone plants.
    right = f"{options.target} + {shlex.quote(str(built_wheel('code_defects')))}"
    recall = Recall()
    for group in GROUPS:
        recall += _group(group, right, options, out / group.name)
    if recall.defects:
        print_table(recall)
    stray: list[Bucket] = []
    if not options.no_control:
        layers = [one.layer for group in GROUPS for one in group.defects]
        flags = restriction(GROUPS[0].programs, layers)
        stray = campaign("code", (options.target, right), options, out / "control", flags)
        print_buckets("\nwithout defects", stray)
    count, found, located = _counts(recall)
    is_enough = found >= options.recall * count and located >= options.located * found
    return int(bool(stray or recall.misplaced) or not is_enough)


def _group(group: Group, right: str, options: Namespace, results: Path) -> Recall:
    """Run the campaign of one group."""
    chosen: list[Defect] = [
        one for one in group.defects if not options.only or one.name in options.only
    ]
    if not chosen:
        return Recall()
    planted = f"{right} CODE_DEFECTS={','.join(one.name for one in chosen)}"
    targets = (right, planted) if group.is_beside else (planted,)
    flags = restriction(group.programs, [one.layer for one in chosen])
    buckets = campaign("code", targets, options, results, flags)
    return recall_of(buckets, chosen, results, planted=parse_target(planted).name)


if __name__ == "__main__":
    sys.exit(main())
