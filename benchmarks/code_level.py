"""Level `code`: how fast programs run, which APIs and parameter values they cover, how many run.

    python benchmarks/code_level.py [--minutes 10] [--target torch==2.13.0 …] [--program GLOB …]

For each target, one after the other: programs per CPU second of all processes, the layers of the
library that programs which ran were made of, classes of parameter values, and how many of the
positive blocks and programs run. Findings are counted as they come: nothing is confirmed.
"""

from __future__ import annotations

import argparse
import ast
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from code_rig import rig_on

from ciguard.domain.api_calls import CallKind
from ciguard.domain.intent import Intent
from ciguard.domain.outcomes import Passed
from ciguard.domain.programs import Operator
from ciguard.levels.code.pruning import equivalence_class

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from code_rig import Rig

    from ciguard.domain.outcomes import Outcome
    from ciguard.domain.programs import ProgramCase
    from ciguard.domain.records import ApiRecord

TARGETS = ("torch==2.13.0", "tensorflow-cpu==2.21.0", "jittor==1.3.11.0")
LAYERS = {"torch": ("torch.nn.",), "tensorflow": ("keras.layers.", "tensorflow.keras.layers."),
          "jittor": ("jittor.nn.",)}  # fmt: skip
PAPER = {"torch": (72, 144), "tensorflow": (95, 169), "jittor": (72, 0)}
"""APIs that MoCo covered, of how many (Table III); of jittor.nn it has no number."""
ALONE, WHOLE, REPEATED, SEED = "block alone", "whole program", "repeated", "seed"


@dataclass
class Measured:
    """What came of a run on one target."""

    library: str
    counts: Counter[tuple[str, Intent, bool]] = field(default_factory=Counter)
    """By kind of program, what it was meant to be, and whether it ran."""
    covered: set[str] = field(default_factory=set)
    """Layers of programs that ran, by their canonical names."""
    classes: set[tuple[str, ...]] = field(default_factory=set)
    """Classes of parameter values that ran."""
    findings: Counter[str] = field(default_factory=Counter)
    wall_s: float = 0.0
    cpu_s: float = 0.0

    def note(self, case: ProgramCase, outcomes: Mapping[str, Outcome]) -> None:
        """Take one program."""
        has_run = all(isinstance(outcome, Passed) for outcome in outcomes.values())
        self.counts[_kind(case), case.intent, has_run] += 1
        steps = [step for step in case.ancestry.path if step.operator is not Operator.NONE]
        if has_run and case.intent is Intent.CONFORMING:
            self.classes.update(equivalence_class(step) for step in steps)

    def share(self, kind: str) -> float:
        """Return how many of the positive ones ran."""
        ran = self.counts[kind, Intent.CONFORMING, True]
        return ran / max(1, ran + self.counts[kind, Intent.CONFORMING, False])


def _kind(case: ProgramCase) -> str:
    if case.cycles > 1:
        return REPEATED
    if case.block:
        return WHOLE
    return ALONE if case.ancestry.path else SEED


def layers_of(records: Sequence[ApiRecord], library: str) -> dict[str, str]:
    """Return the public layers of a library: every name → the canonical one."""
    found: dict[str, str] = {}
    for record in records:
        names = (record.api, *record.aliases)
        if record.kind is CallKind.LAYER and any(_is_layer(name, library) for name in names):
            found |= dict.fromkeys(names, record.api)
    return found


def _is_layer(name: str, library: str) -> bool:
    return any(name.startswith(root) and "." not in name[len(root) :] for root in LAYERS[library])


def called(source: str) -> set[str]:
    """Return the last parts of the names that a program calls."""
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            names.add(ast.unparse(node.func).rpartition(".")[2])
    return names


def measured(rig: Rig, *, minutes: float) -> tuple[Measured, frozenset[str]]:
    """Run programs for so long.

    Returns:
        What came of them, and the public layers of the library.
    """
    library = rig.group.library
    layers = layers_of(rig.group.records(), library)
    short = {
        name.rpartition(".")[2]: api for name, api in layers.items() if _is_layer(name, library)
    }
    found = Measured(library)
    began, cpu = time.monotonic(), rig.cpu_s
    for executed in rig.run(seconds=60 * minutes):
        for case, outcomes in rig.rows(executed):
            found.note(case, outcomes)
            if case.intent is Intent.CONFORMING and all(
                isinstance(outcome, Passed) for outcome in outcomes.values()
            ):
                found.covered |= {short[n] for n in called(case.source) if n in short}
            found.findings.update(
                f"{finding.oracle}: {finding.kind} {finding.api} {case.focus}"
                for finding in rig.judged(case, dict(outcomes))
            )
    found.wall_s, found.cpu_s = time.monotonic() - began, rig.cpu_s - cpu
    return found, frozenset(short.values())


def report(found: Measured, layers: frozenset[str]) -> None:
    """Print what came of a run."""
    ran = sum(found.counts.values())
    cycles = sum(n for (kind, _, _), n in found.counts.items() if kind == REPEATED)
    print(f"\n{found.library}: {ran} programs in {found.wall_s:.0f} s, {found.cpu_s:.0f} CPU s")
    print(f"  per CPU second        {ran / found.cpu_s:>8.2f}   (MoCo: 0.02 to 2.9 s for each)")
    print(f"  of which repeated     {cycles:>8}   12 times each")
    covered, of = PAPER[found.library]
    share = f"{len(found.covered)} of {len(layers)}"
    print(f"  layers covered        {share:>12}   (MoCo: {covered}{f' of {of}' if of else ''})")
    print(f"  parameter classes     {len(found.classes):>8}")
    for kind in (ALONE, WHOLE):
        negative = found.counts[kind, Intent.VIOLATING, True]
        refused = found.counts[kind, Intent.VIOLATING, False]
        print(
            f"  {kind:<15} positive that ran {found.share(kind):>7.1%}   "
            f"negative: {negative} ran, {refused} refused"
        )
    left = sorted(name.rpartition(".")[2] for name in layers - found.covered)
    print(f"  not covered: {', '.join(left) or '-'}")
    for what, count in found.findings.most_common(20):
        print(f"  finding, not confirmed: {count} times {what}")


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=10.0, help="per target")
    parser.add_argument("--target", action="append", help=f"by default {TARGETS}")
    parser.add_argument("--program", action="append", help="seed programs; by default all")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    for target in options.target or TARGETS:
        with rig_on([target], options.program or ["*"], seed=options.seed) as rig:
            report(*measured(rig, minutes=options.minutes))
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
