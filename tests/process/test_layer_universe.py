"""Keras itself agrees with the universe of layers, and builds every mutant."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from model_graphs import GRAPHS

from ciguard.campaign import extract
from ciguard.domain.models import INPUT, LayerGraph, LayerNode, graph_to_json
from ciguard.levels.model.kinds import KINDS, OUTSIDE
from ciguard.levels.model.layers import LayerKind, LayerPlace
from ciguard.levels.model.rules import RULES, RuleName
from ciguard.levels.model.universe import Universe, max_mutant_size

if TYPE_CHECKING:
    from collections.abc import Callable

    from ciguard.domain.models import Shape
    from ciguard.targets import Environment

    EnvironmentOf = Callable[[str], Environment]

TARGET = "keras==3.15.1 + torch==2.13.0"
PROBE = Path(__file__).with_name("layer_probe.py")
SHAPES: dict[int, tuple[Shape, ...]] = {
    1: ((6,), (1,), (16,), (32,)),
    2: ((8, 4), (5, 3), (16, 1), (10, 6)),
    3: ((8, 8, 3), (6, 5, 4), (4, 7, 1), (9, 8, 3)),
    4: ((3, 6, 6, 2), (4, 4, 5, 3), (3, 4, 4, 1)),
    5: ((2, 4, 4, 4, 2),),
}
DRAWS = 4
MUTANTS = 200
ORDER = 6


@pytest.fixture(scope="module")
def universe() -> Universe:
    return Universe.of(extract(TARGET).known.records.values())


def probe(environment: Environment, graphs: list[LayerGraph], folder: Path) -> dict[str, Any]:
    path = folder / "graphs.json"
    path.write_text(json.dumps([graph_to_json(graph) for graph in graphs]), encoding="utf-8")
    variables = {**os.environ, "KERAS_BACKEND": "torch", "OMP_NUM_THREADS": "1"}
    variables.pop("PYTHONPATH", None)
    argv = [str(environment.python), str(PROBE), str(path)]
    done = subprocess.run(argv, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def drawn(universe: Universe, kind: LayerKind, rng: random.Random) -> list[LayerGraph]:
    """Return graphs of the layer alone, for several places and with several arguments."""
    graphs = []
    for keeps_shape in (True, False):
        for rank in kind.ranks:
            for _ in range(DRAWS):
                shape = rng.choice(SHAPES[rank])
                count = rng.randint(kind.inputs[0], min(kind.inputs[1], kind.inputs[0] + 1))
                layer = universe.draw(rng, kind, LayerPlace((shape,) * count, keeps_shape))
                if layer is not None:
                    graphs.append(alone(kind, shape, count, layer))
    return graphs


def alone(
    kind: LayerKind, shape: Shape, count: int, drawn_layer: tuple[dict[str, Any], Shape]
) -> LayerGraph:
    names = tuple(f"x{index}" for index in range(count))
    inputs = [
        LayerNode(name=name, layer=INPUT, shape=shape, dtype=kind.input_elements.value)
        for name in names
    ]
    layer = LayerNode(
        name="y",
        layer=kind.public,
        config=drawn_layer[0],
        inputs=names,
        as_list=kind.as_list,
        shape=drawn_layer[1],
        dtype=kind.output_elements.value,
    )
    return LayerGraph(nodes=(*inputs, layer), outputs=("y",))


@pytest.mark.library("keras")
@pytest.mark.slow
def test_every_layer_has_the_shape_in_keras_that_the_universe_declares(
    universe: Universe, environment_of: EnvironmentOf, tmp_path: Path
) -> None:
    rng = random.Random(11)
    graphs = [(kind.name, g) for kind in universe.kinds for g in drawn(universe, kind, rng)]

    answer = probe(environment_of(TARGET), [graph for _, graph in graphs], tmp_path)

    wrong = [
        (name, graph.nodes[-1].config, text)
        for (name, graph), text in zip(graphs, answer["wrong"], strict=True)
        if text
    ]
    covered = {name for name, _ in graphs} - {name for name, *_ in wrong}
    public = [names for names in answer["public"] if not OUTSIDE.keys() & set(names)]
    reached = [names for names in public if covered & set(names)]
    sys.stdout.write(
        f"{len(reached)} of {len(public)} layers that a graph can contain, "
        f"{len(graphs)} draws, {len(wrong)} wrong\n"
    )
    assert wrong == []
    assert len(reached) >= 0.95 * len(public)
    # Every public layer is in the table or outside it for a reason.
    listed = {kind.name for kind in KINDS} | OUTSIDE.keys()
    assert [names for names in answer["public"] if not listed & set(names)] == []


@pytest.mark.library("keras")
@pytest.mark.slow
def test_keras_builds_every_mutant(
    universe: Universe, environment_of: EnvironmentOf, tmp_path: Path
) -> None:
    rng = random.Random(12)
    graphs: list[LayerGraph] = []
    used: Counter[str] = Counter()
    names = ("lenet", "residual", "lstm", "shared")
    while len(graphs) < MUTANTS:
        graph = GRAPHS[names[len(graphs) % len(names)]]
        bounded = universe.with_size_limit(max_mutant_size(universe.size(graph)))
        for _ in range(rng.randint(1, ORDER)):
            rule = rng.choice(list(RuleName))
            mutation = RULES[rule](graph, rng, bounded)
            if mutation is not None:
                graph = mutation.graph
                used[rule] += 1
        graphs.append(graph)

    answer = probe(environment_of(TARGET), graphs, tmp_path)

    wrong = [text for text in answer["wrong"] if text]
    sys.stdout.write(f"{len(graphs)} mutants, {len(wrong)} invalid; {dict(used)}\n")
    assert wrong == []
    assert set(used) == set(RuleName)
