"""Which kinds of values reach which kinds of parameters: drawn, and accepted by the library.

    python benchmarks/value_table.py [--target torch==2.13.0] [--apis 300] [--batches 3] [--seed 0]

Prints a table with one row per kind of parameter and one column per kind of value. A cell shows
how many arguments were drawn, and the share of the calls with one that passed. A dot marks a value
that cannot stand there. Exits with 1 if a cell is never drawn although the value can stand there.
Reports of campaigns have the same table, of a sample of their calls.
"""

from __future__ import annotations

import argparse
import random
import sys

from one_target import OneTarget

from ciguard.domain.outcomes import Passed
from ciguard.domain.value_table import PARAMETER_KINDS, VALUE_KINDS, ValueTable
from ciguard.execution import Dispatcher
from ciguard.levels import select
from ciguard.levels.api.level import ApiLevel


def count(options: argparse.Namespace) -> ValueTable:
    """Return the numbers of arguments of all calls."""
    table = ValueTable()
    with Dispatcher() as dispatcher:
        target = OneTarget(options.target, dispatcher)
        records = select(target.records.values())
        records = tuple(random.Random(0).sample(records, min(options.apis, len(records))))
        level = ApiLevel(records, options.seed)
        for executed in target.run(level, options.batches * len(records), apis=len(records)):
            (outcomes,) = executed.outcomes.values()
            for case, outcome in zip(executed.cases, outcomes, strict=True):
                table.note(level.argument_kinds(case), has_passed=isinstance(outcome, Passed))
    return table


def cell(table: ValueTable, row: str, column: str) -> str:
    """Return the text of a cell."""
    if row not in VALUE_KINDS[column]:
        return "."
    drawn = table.drawn[row, column]
    return f"{drawn:,} ({table.passed[row, column] / drawn:.0%})" if drawn else "**0**"


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--target", default="torch==2.13.0")
    parser.add_argument("--apis", type=int, default=300)
    parser.add_argument("--batches", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    table = count(options)
    print("| parameter | " + " | ".join(VALUE_KINDS) + " |")
    print("| --- |" + " ---: |" * len(VALUE_KINDS))
    for row in PARAMETER_KINDS:
        print(f"| {row} | " + " | ".join(cell(table, row, kind) for kind in VALUE_KINDS) + " |")
    if gaps := table.gaps():
        print("never drawn: " + ", ".join(f"{row} / {column}" for row, column in gaps))
    return 1 if gaps else 0


if __name__ == "__main__":
    sys.exit(main())
