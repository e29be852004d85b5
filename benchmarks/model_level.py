"""Level `model`: how fast mutants run, and what rules and layers come up.

    python benchmarks/model_level.py [--part speed rules] [--models …] [--width 100]

Prints, for mutants of small models on Keras 3.15.1 with torch, TensorFlow and JAX: mutants per CPU
second beside plain Keras that builds and calls the same graphs; which rules found a place and ran;
the layers that mutants covered. CPU seconds of all processes count.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from model_rig import TARGETS, Rig, environments_of, rig_on

from ciguard.domain.models import INPUT, ModelCase
from ciguard.levels.model.rules import RuleName
from ciguard.levels.model.universe import Universe, canonical_name
from ciguard.oracles.relations import encode

if TYPE_CHECKING:
    from ciguard.levels.model.level import ModelLevel
    from ciguard.targets import Environment

HERE = Path(__file__).parent
MIXES = HERE / "mixes"
PER_BATCH = 4
ONE_PLACE = {"NPROC": "1", "JAX_PLATFORMS": "cpu", "TF_CPP_MIN_LOG_LEVEL": "3"}
"""What ciguard's adapters set in their own process."""


# --- speed ----------------------------------------------------------------------------------------


def in_target(environment: Environment, script: str, *arguments: str) -> str:
    """Return what a script prints in a target's interpreter."""
    argv = [str(environment.python), str(MIXES / script), *arguments]
    variables = {**ONE_PLACE, **environment.variables, "HOME": "/nonexistent"}
    done = subprocess.run(argv, env=variables, check=True, capture_output=True, text=True)
    return done.stdout


def timed(rig: Rig, level: ModelLevel, *, warm_up: int, mutants: int) -> tuple[list[bytes], float]:
    """Run mutants; return the cases, those of the warm-up first, and CPU seconds of the others."""
    cases: list[bytes] = []
    counted = began = None
    for ran in rig.run(level, batches=(warm_up + mutants) // PER_BATCH):
        cases += map(encode, ran.executed.cases)
        if counted is None and len(cases) >= warm_up:
            counted, began = len(cases), rig.cpu_s
            rig.spent.clear()
    if counted is None or began is None:
        msg = f"{len(cases)} cases are fewer than {warm_up} to warm up"
        raise SystemExit(msg)
    return cases, (rig.cpu_s - began) / (len(cases) - counted)


def speed(environments: dict[str, Environment], options: argparse.Namespace) -> None:
    """Print the cost of a mutant beside that of plain Keras, of several seeds and of all."""
    found = [_speed(environments, options, seed) for seed in range(options.speed_seeds)]
    own_s, compiled_s = (sum(costs) / len(found) for costs in zip(*found, strict=True))
    ratios = ", ".join(f"{compiled / own:.0%}" for own, compiled in found)
    print("\nciguard / plain Keras with all shapes compiled:", end=" ")
    print(f"{compiled_s / own_s:.0%} over all seeds ({ratios})")


def _speed(
    environments: dict[str, Environment], options: argparse.Namespace, seed: int
) -> tuple[float, float]:
    """Return CPU seconds of a mutant, and of plain Keras with all shapes compiled before."""
    sizes = {"warm_up": options.warm_up, "mutants": options.mutants}
    # What a process has compiled once would be a gift to the run after.
    with rig_on(environments, options.models[:1], width=options.width) as rig:
        cases, own_s = timed(rig, rig.predicting(seed), **sizes)
        here = dict(rig.spent)
    with rig_on(environments, options.models[:1], width=options.width) as rig:
        _, mixed_s = timed(rig, rig.every_check(seed), **sizes)
    count = len(cases) - options.warm_up
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "cases.jsonl")
        file.write_bytes(b"\n".join(cases))
        raw = [_raw(environment, file, options.warm_up) for environment in environments.values()]
        stages = [
            _stages(environment, file, options.warm_up) for environment in environments.values()
        ]
    met, compiled = (sum(costs) for costs in zip(*raw, strict=True))
    print(f"\nseed {seed}: {count} mutants of {options.models[0]}, width {options.width} %")
    _rate("plain Keras, shapes as they come", met, met)
    _rate("ciguard, all predict", own_s, met)
    _rate("plain Keras, all shapes compiled before", compiled, met)
    _rate("ciguard, every check (train, save)", mixed_s, met)
    print("\n  ms of CPU per mutant")
    for stage, spent in here.items():
        print(f"  {stage:<26}{1000 * spent / count:>9.2f}")
    print(f"  {'in workers':<26}" + "".join(f"{name[16:40]:>26}" for name in environments))
    for stage in dict.fromkeys(stage for one in stages for stage in one):
        row = "".join(f"{1000 * one.get(stage, 0.0) / count:>26.2f}" for one in stages)
        print(f"    {stage:<24}{row}", flush=True)
    return own_s, compiled


def _raw(environment: Environment, file: Path, warm_up: int) -> tuple[float, float]:
    """Return CPU seconds per model of both rounds."""
    said = in_target(environment, "keras_graphs.py", str(file), str(warm_up))
    first, second = (line.split() for line in said.splitlines()[-2:])
    return float(first[0]) / int(first[1]), float(second[0]) / int(second[1])


def _stages(environment: Environment, file: Path, warm_up: int) -> dict[str, float]:
    said = in_target(environment, "keras_stages.py", str(HERE.parent), str(file), str(warm_up))
    spent: dict[str, float] = json.loads(said.splitlines()[-1])
    return spent


def _rate(name: str, cost_s: float, raw_s: float) -> None:
    print(f"  {name:<42}{1 / cost_s:>8.2f} /CPU-s{raw_s / cost_s:>8.0%}")


# --- rules and layers -----------------------------------------------------------------------------


def rules(environments: dict[str, Environment], options: argparse.Namespace) -> None:
    """Print what came of each rule on each seed model, and the layers that mutants covered."""
    applied: Counter[tuple[str, str]] = Counter()
    valid: Counter[tuple[str, str]] = Counter()
    covered: set[str] = set()
    with rig_on(environments, options.covering_models, width=options.width) as rig:
        universe = Universe.of(rig.records)
        level = rig.predicting(0)
        batches = len(rig.models) + options.covering // PER_BATCH
        for ran in rig.run(level, batches=batches):
            for case, outcomes in ran.rows():
                if not case.origin.mutations:
                    continue
                key = case.origin.mutations[-1].partition(" ")[0], case.origin.model
                applied[key] += 1
                if not any(type(outcome).__name__ == "Passed" for outcome in outcomes.values()):
                    continue
                valid[key] += 1
                covered |= _layers(case)
        names = [model.name for model in rig.models]
    print(f"\n{applied.total()} mutants: applied / ran")
    print(f"  {'':<6}" + "".join(f"{name:>20}" for name in names))
    for rule in RuleName:
        cells = [f"{applied[rule, n]} / {valid[rule, n]}" for n in names]
        print(f"  {rule:<6}" + "".join(f"{cell:>20}" for cell in cells))
    known = {kind.public for kind in universe.kinds}
    left = sorted(name.rpartition(".")[2] for name in known - covered)
    print(
        f"\nlayers covered: {len(known & covered)} of {len(known)}; not: {', '.join(left) or '-'}"
    )


def _layers(case: ModelCase) -> set[str]:
    """Return the layers of a graph, and those that they wrap."""
    found: set[str] = set()
    for node in case.graph.nodes:
        if node.layer != INPUT:
            found.add(canonical_name(node.layer))
    return found


PARTS = {"speed": speed, "rules": rules}


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--part", nargs="+", choices=list(PARTS), default=list(PARTS))
    parser.add_argument("--models", nargs="+", default=["lenet5-mnist", "lstm-sine", "lstm-price"])
    parser.add_argument(
        "--covering-models",
        nargs="+",
        default=["lenet5-mnist", "lstm-sine", "alexnet-cifar10"],
        help="for rules and layers: many layers take pictures in colour",
    )
    parser.add_argument("--width", type=int, default=100, help="per cent; see `ciguard run`")
    parser.add_argument("--mutants", type=int, default=480, help="whose speed is measured")
    parser.add_argument("--warm-up", type=int, default=40, help="mutants that are not measured")
    parser.add_argument("--speed-seeds", type=int, default=3, help="with which speed is measured")
    parser.add_argument("--covering", type=int, default=2000, help="mutants for rules and layers")
    options = parser.parse_args()
    environments = environments_of(TARGETS)
    for part in options.part:
        PARTS[part](environments, options)
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
