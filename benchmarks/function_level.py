"""Inputs of annotated functions: ciguard beside plain Hypothesis and libraries of contracts.

For twenty sets of annotations (`function_sets/programs.py`): valid inputs per CPU second and the
share that is discarded, branch coverage within 100 valid inputs, lines of annotations beside lines
of the Hypothesis tests that `ciguard function export` writes. Its first 100 inputs for each are
checked by conditions that were written down apart (`function_sets/contracts.py`). Exits with status
1 if an input that ciguard calls valid is not.
"""

from __future__ import annotations

import argparse
import importlib
import json
import pickle
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import coverage
import function_sets.contracts  # noqa: F401 - states what `is_valid` asks
from function_sets import plain, programs
from function_sets.drawing import KEPT, Drawn, draw
from function_sets.requiring import is_valid
from function_sets.sizes import print_sizes
from hypothesis import strategies as st

from ciguard.functions.checking import module_from_json
from ciguard.functions.drawing import call_sampler
from ciguard.functions.drawing.calls import call_strategy
from ciguard.functions.in_target.calling.caller import Caller
from ciguard.functions.in_target.describing.module import Description
from ciguard.functions.writing import export_tests

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import ModuleType

    from ciguard.functions.specs import Call, FunctionSpec, ModuleSpec

RIVALS = {
    # The last Python whose byte code it reads, and a Hypothesis that it still starts with.
    "icontract": ("3.10", "icontract-hypothesis==1.1.7", "hypothesis==6.135.0", "numpy==2.2.6"),
    "deal": ("3.11", "deal==4.24.6", "hypothesis==6.170.15", "numpy==2.4.6"),
}
"""Python and packages of each, in an environment that uv makes for the run."""
_SEED = 0


class Bench:
    """The twenty functions, described and ready to be called."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        description = Description(programs)
        self.module: ModuleSpec = module_from_json(json.loads(json.dumps(description.json())))
        self.caller = Caller(programs, description=description)
        self.wrong: list[str] = []
        """Inputs that ciguard calls valid and that are not."""

    def ciguard(self, function: FunctionSpec) -> tuple[Drawn, Drawn]:
        """Measure drawing as the pytest plugin draws, and drawing with calls."""
        strategy = call_strategy(function, self.module)
        alone = draw(strategy, lambda _: True, None, self.seconds)
        # What only live objects can answer is answered where the call is made.
        share = statistics.mean(self._made(function, call) for call in alone.kept)
        refused = round(alone.valid * (1 - share))
        alone.valid, alone.discarded = alone.valid - refused, alone.discarded + refused
        called = draw(strategy, lambda call: self._made(function, call), None, self.seconds)
        return alone, called

    def _made(self, function: FunctionSpec, call: Call) -> bool:
        """Make a call, and return whether its preconditions held."""
        result = self.caller.run(json.loads(json.dumps(call.to_json())))
        if result["status"] not in ("passed", "discarded"):
            self.wrong.append(f"{function.name}: {result}")
        return bool(result["status"] == "passed")

    def arguments(self, function: FunctionSpec, calls: Sequence[Call]) -> list[dict[str, Any]]:
        """Return the live arguments of calls; note those that are not valid."""
        found = [self.caller.build(call.to_json()["arguments"]) for call in calls]
        self.wrong += [f"{function.name}: {a}" for a in found if not is_valid(function.name, a)]
        return found

    def sampled(self, function: FunctionSpec) -> Drawn:
        """Measure drawing as campaigns draw."""
        sample, rng = call_sampler(function, self.module), random.Random(_SEED)
        found = Drawn()
        began = time.process_time()
        while found.seconds < self.seconds / 2:
            call = sample(rng)
            found.valid += call is not None
            found.discarded += call is None
            found.seconds = time.process_time() - began
        return found

    def plain(self, function: FunctionSpec) -> tuple[Drawn, Drawn]:
        """Measure plain Hypothesis with `assume`, alone and with calls."""
        strategy, call = plain.arguments_of(function.name), vars(programs)[function.name]

        def is_so(arguments: dict[str, Any]) -> bool:
            return is_valid(function.name, arguments)

        alone = draw(strategy, is_so, None, self.seconds)
        called = draw(strategy, is_so, lambda drawn: call(**drawn), self.seconds)
        return alone, called

    def exported(self, function: FunctionSpec, tests: ModuleType) -> Drawn:
        """Measure the strategy that `ciguard function export` writes."""
        given = vars(tests)[f"test_{function.name}"].hypothesis._given_kwargs  # noqa: SLF001 - no other way
        strategy = given["arguments"] if "arguments" in given else st.fixed_dictionaries(given)
        return draw(strategy, lambda a: is_valid(function.name, a), None, self.seconds)


def exported_tests(folder: Path) -> ModuleType:
    """Return the plain Hypothesis tests that `ciguard function export` writes, imported."""
    (written,) = export_tests([Path(programs.__file__)], folder)
    sys.path.insert(0, str(folder))
    return importlib.import_module(written.path.stem)


def by_rival(tool: str, names: Sequence[str], seconds: float, folder: Path) -> dict[str, Drawn]:
    """Return what a library of contracts draws; nothing where it cannot be installed."""
    python, *packages = RIVALS[tool]
    command = [shutil.which("uv") or "uv", "run", "--quiet", "--no-project", "--python", python]
    for package in packages:
        command += ["--with", package]
    file = folder / f"{tool}.pickle"
    script = str(Path(__file__).parent / "function_sets" / "rivals.py")
    made = subprocess.run(
        [*command, "python", script, tool, str(seconds), str(file), *names],
        capture_output=True,
        text=True,
        check=False,
    )
    if made.returncode:
        print(f"{tool} is not measured: {made.stderr.strip().splitlines()[-1:]}")
        return {}
    found: dict[str, Drawn] = pickle.loads(file.read_bytes())  # noqa: S301 - written just now
    return found


def branches(inputs: Mapping[str, Sequence[dict[str, Any]]], folder: Path) -> dict[str, str]:
    """Return the branches that inputs take of each function, as `taken/all`."""
    if not inputs:  # of a tool that could not be installed
        return {}
    measured = coverage.Coverage(branch=True, include=[programs.__file__], data_file=None)
    with measured.collect():
        for name, listed in inputs.items():
            for arguments in listed:
                vars(programs)[name](**arguments)
    report = folder / "coverage.json"
    measured.json_report(outfile=str(report))
    (file,) = json.loads(report.read_text())["files"].values()
    summaries = {name: file["functions"][name]["summary"] for name in inputs}
    return {name: f"{s['covered_branches']}/{s['num_branches']}" for name, s in summaries.items()}


# --- tables -------------------------------------------------------------------------------------


def _rate(drawn: Drawn | None) -> str:
    if drawn is None or drawn.error:
        return "-"
    return f"{drawn.speed:.0f}" if drawn.speed >= 10 or not drawn.valid else f"{drawn.speed:.1f}"


def _lost(drawn: Drawn | None) -> str:
    return "-" if drawn is None or drawn.error else f"{100 * drawn.discard_rate:.0f} %"


def print_table(title: str, columns: Sequence[str], rows: Mapping[str, Sequence[str]]) -> None:
    """Print a table, one row for each function."""
    print(f"\n{title}\n{'':<15}" + "".join(f"{column:>12}" for column in columns))
    for name, cells in rows.items():
        print(f"{name:<15}" + "".join(f"{cell:>12}" for cell in cells))


def print_ratio(title: str, pairs: Sequence[tuple[Drawn, Drawn]]) -> None:
    """Print how much faster the first draws than the second, as quartiles over the functions."""
    ratios = [one.speed / other.speed for one, other in pairs if one.speed and other.speed]
    low, middle, high = statistics.quantiles(ratios, n=4)
    never = sum(not other.valid for _, other in pairs)
    print(f"{title:<46}{middle:>8.2f}  ({low:.2f} to {high:.2f}; {never} without any)")


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=1.0, help="of CPU for each measurement")
    parser.add_argument("--only", nargs="*", default=(), help="functions")
    options = parser.parse_args()
    bench = Bench(options.seconds)
    functions = [f for f in bench.module.tested() if not options.only or f.name in options.only]
    names = [function.name for function in functions]
    with tempfile.TemporaryDirectory(prefix="functions-") as made:
        folder = Path(made)
        tests = exported_tests(folder)
        ours = {f.name: bench.ciguard(f) for f in functions}
        filtered = {f.name: bench.plain(f) for f in functions}
        columns: dict[str, dict[str, Drawn]] = {
            "ciguard": {name: pair[0] for name, pair in ours.items()},
            "exported": {f.name: bench.exported(f, tests) for f in functions},
            "plain": {name: pair[0] for name, pair in filtered.items()},
            **{tool: by_rival(tool, names, options.seconds, folder) for tool in RIVALS},
        }
        sampled = {f.name: bench.sampled(f) for f in functions}
        inputs = {title: {n: d.kept for n, d in found.items()} for title, found in columns.items()}
        inputs["ciguard"] = {f.name: bench.arguments(f, ours[f.name][1].kept) for f in functions}
        taken = {title: branches(listed, folder) for title, listed in inputs.items()}
        called = {
            "sampler": sampled,
            "with calls": {name: pair[1] for name, pair in ours.items()},
            "plain, calls": {name: pair[1] for name, pair in filtered.items()},
        }
        every = {**columns, **called}
        print_table(
            "valid inputs per CPU second",
            list(every),
            {name: [_rate(found.get(name)) for found in every.values()] for name in names},
        )
        print_table(
            "inputs that were discarded",
            list(every),
            {name: [_lost(found.get(name)) for found in every.values()] for name in names},
        )
        print_table(
            f"branches taken by {KEPT} valid inputs, or all that were drawn",
            list(taken),
            {name: [found.get(name, "-") for found in taken.values()] for name in names},
        )
        print("\nspeed over that of another, median over functions (quartiles)")
        for title in ("exported", "plain", *RIVALS):
            pairs = [(ours[n][0], d) for n, d in columns[title].items() if not d.error]
            if pairs:
                print_ratio(f"ciguard / {title}", pairs)
        print_ratio("ciguard / plain, with calls", [(ours[n][1], filtered[n][1]) for n in names])
        print_sizes(Path(programs.__file__), Path(str(tests.__file__)), names)
    for line in bench.wrong[:20]:
        print(f"wrong: {line}")
    return int(bool(bench.wrong))


if __name__ == "__main__":
    sys.exit(main())
