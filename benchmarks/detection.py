"""Agreement: does the share of planted defects that a run states hold for other defects?

    python benchmarks/detection.py [--only NAME] [--budget 90] [--seeds 3] [--out DIR]

Each run has three targets: torch, torch with some defects of `planted_defects`, and torch again,
into which the run plants its own defects. Prints the share of its own defects that it has noticed,
and the share of the others that its buckets show. Both come from one run, but from different APIs,
as a defect hides others of its API. Only kinds of defects that `planted_defects` has count.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
import tempfile
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from planted_campaign import built_wheel, campaign
from planted_defects import PLANTABLE, Kind, defects
from planted_recall import recall_of

from ciguard.domain.detection import DefectKind, wilson_interval
from ciguard.reports import read_buckets
from ciguard.targets import parse_target

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from planted_defects import Defect

    from ciguard.domain.findings import Bucket

COUNTERPARTS = {
    DefectKind.VALUE: Kind.VALUE,
    DefectKind.DTYPE: Kind.DTYPE,
    DefectKind.SHAPE: Kind.SHAPE,
    DefectKind.NAN: Kind.NAN,
    DefectKind.GRADIENT: Kind.GRADIENT,
    DefectKind.MUTATION: Kind.CORRUPTION,
    DefectKind.EXCEPTION: Kind.EXCEPTION,
    DefectKind.ACCEPTANCE: Kind.BOUNDS,
    DefectKind.IGNORED: Kind.IGNORED,
    DefectKind.CRASH: Kind.CRASH,
}
"""Kind of the planted defects of a run → the same kind in `planted_defects`."""

_PLANTED = 26
"""Defects of `planted_defects` in each run: two of each kind, in about half of the APIs."""
_POPULATION = {(row.api, kind) for row in PLANTABLE for kind in row.kinds}
"""APIs and kinds of defects that `planted_defects` can plant."""


@dataclass(frozen=True, slots=True)
class Configuration:
    """Settings of a run."""

    name: str
    further: tuple[tuple[str, str], ...] = ()
    share: float = 1.0
    """Share of the budget."""


CONFIGURATIONS = (
    Configuration("all oracles"),
    Configuration("half the time", share=1 / 2),
    Configuration("one relation", (("--relation", "written and read back"),)),
    Configuration("differences ignored", (("--policy", "differential/*=off"),)),
    Configuration("wrong results ignored", (("--policy", "wrong-result=off"),)),
)


@dataclass(slots=True)
class Shares:
    """Numbers of noticed and planted defects by kind, stated and of `planted_defects`."""

    stated: Counter[DefectKind] = field(default_factory=Counter)
    stated_of: Counter[DefectKind] = field(default_factory=Counter)
    found: Counter[DefectKind] = field(default_factory=Counter)
    found_of: Counter[DefectKind] = field(default_factory=Counter)

    def add_stated(self, detection: Mapping[str, Any], others: Collection[str]) -> None:
        """Add the detection of a run, except for APIs that have other defects."""
        for outcome in ("noticed", "missed", "uncalled"):
            for name, api in detection[outcome]:
                kind = DefectKind(name)
                if api not in others and (api, COUNTERPARTS.get(kind)) in _POPULATION:
                    self.stated[kind] += outcome == "noticed"
                    self.stated_of[kind] += 1

    def add_found(self, buckets: Iterable[Bucket], chosen: list[Defect], planted: str) -> None:
        """Add the buckets of a run on a target with planted defects."""
        rows = {row.kind: row for row in recall_of(buckets, chosen, planted=planted).rows()}
        for kind, counterpart in COUNTERPARTS.items():
            self.found[kind] += rows[counterpart].found
            self.found_of[kind] += rows[counterpart].planted

    @property
    def kinds(self) -> list[DefectKind]:
        """Kinds that both planted."""
        return [kind for kind in DefectKind if self.stated_of[kind] and self.found_of[kind]]

    def rates(self) -> tuple[float, float]:
        """Return the stated share, and the share found with the same weights of the kinds."""
        total = sum(self.stated_of[kind] for kind in self.kinds)
        if not total:
            sys.exit("no run had time for calls: raise --budget")
        stated = sum(self.stated[kind] for kind in self.kinds) / total
        found = sum(
            self.stated_of[kind] / total * self.found[kind] / self.found_of[kind]
            for kind in self.kinds
        )
        return stated, found


def shares_of(tried: Configuration, options: argparse.Namespace, out: Path) -> Shares:
    """Run a configuration with each seed, and return the shares."""
    right = f"{options.target} + {shlex.quote(str(built_wheel('planted_defects')))}"
    further = [*(("--api", row.api) for row in PLANTABLE), *tried.further]
    further.append(("--policy", "documentation=off"))  # time for calls
    shares, budget_s = Shares(), options.budget * tried.share
    for seed in range(options.seeds):
        planted = f"{right} PLANTED_DEFECTS={seed} PLANTED_COUNT={_PLANTED}"
        folder = out / f"{tried.name} {seed}".replace(" ", "-")
        if not (folder / "run.json").exists():
            each = argparse.Namespace(budget=f"{budget_s:g}s", seed=seed, jobs=options.jobs)
            with suppress(SystemExit):  # a short run may have no verdict, but it has both shares
                campaign("api", (right, planted, f"{right} PLANTED_TWIN=1"), each, folder, further)
        run: dict[str, Any] = json.loads((folder / "run.json").read_text("utf-8"))
        if run["detection"] is None:
            print(f"{folder.name}: no time to plant, left out of both shares", flush=True)
            continue
        others = defects(seed, _PLANTED)
        shares.add_stated(run["detection"], {defect.api for defect in others})
        shares.add_found(read_buckets(folder), others, parse_target(planted).name)
    return shares


def print_shares(name: str, shares: Shares) -> None:
    """Print both shares, of all kinds and of each."""
    stated, found = shares.rates()
    caught = sum(shares.stated[kind] for kind in shares.kinds)
    low, high = wilson_interval(caught, sum(shares.stated_of[kind] for kind in shares.kinds))
    print(
        f"{name}: stated {stated:.0%} ({low:.0%} to {high:.0%}), found {found:.0%}, "
        f"difference {100 * abs(stated - found):.0f} points"
    )
    for kind in shares.kinds:
        print(
            f"  {kind.value:<20}{shares.stated[kind]:>4}/{shares.stated_of[kind]:<4}"
            f"{shares.found[kind]:>4}/{shares.found_of[kind]}"
        )
    sys.stdout.flush()


def main() -> int:
    """Run the benchmark; exit 1 if a stated share is more than 5 points from the one found."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--target", default="torch==2.13.0")
    parser.add_argument("--only", action="append", help="part of the name of a configuration")
    parser.add_argument("--budget", type=float, default=90, help="of one run, in seconds")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, help="keep results here, and use those that are there")
    options = parser.parse_args()
    differences = []
    with tempfile.TemporaryDirectory() as folder:
        for tried in CONFIGURATIONS:
            if options.only and not any(part in tried.name for part in options.only):
                continue
            shares = shares_of(tried, options, options.out or Path(folder))
            print_shares(tried.name, shares)
            stated, found = shares.rates()
            differences.append(abs(stated - found))
    return int(max(differences) > 0.05)


if __name__ == "__main__":
    sys.exit(main())
