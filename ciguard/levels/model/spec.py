"""Level `model` as campaigns know it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from ciguard.campaign import LevelDefaults, WorkerNeeds, digest_of_apis
from ciguard.domain.models import ModelCase
from ciguard.levels import select_layers
from ciguard.levels.model.amplification import amplification
from ciguard.levels.model.isolating import Isolator
from ciguard.levels.model.layer_runs import (
    LayerRunOracle,
    changed_by_saving,
    inputs_of,
    nudged_run,
)
from ciguard.levels.model.level import REPEATS_WHERE_COMPILED, ModelLevel
from ciguard.levels.model.script import model_script
from ciguard.levels.model.seed_sources import FOLDERS
from ciguard.levels.model.seeding import (
    LIBRARY,
    check_models,
    refuse_without_keras,
    seed_models,
    seed_sources,
)
from ciguard.levels.model.settings import WIDTH
from ciguard.levels.model.simpler import simpler_models
from ciguard.levels.model.words import checked_text, layer_origin, origin_text
from ciguard.libraries import LIBRARIES
from ciguard.oracles import ORACLES
from ciguard.targets import readable_paths
from ciguard.triage import PresentationDefaults

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from ciguard.campaign import Group, Stream, StreamFactory
    from ciguard.config import Config
    from ciguard.domain.events import Event
    from ciguard.domain.findings import Finding
    from ciguard.execution import Dispatcher, Output
    from ciguard.libraries import Library
    from ciguard.oracles import Move
    from ciguard.oracles.comparing import InputPrecision
    from ciguard.triage import EnvironmentHint, LayerOrigin

_LIMIT_S = 60.0
"""Time of one run of a model: hundreds of layers, each of which may have to be compiled."""


class ModelSpec(LevelDefaults, PresentationDefaults[ModelCase]):
    """Mutants of layer graphs, run on several targets and compared (LEMON)."""

    name: ClassVar[str] = "model"
    compares_targets: ClassVar[bool] = False
    """Its own oracle does: most of the targets outvote the reference."""

    def check(self, config: Config) -> None:
        """Refuse models without Keras, and seed models that there are not."""
        check_models(config)

    def needs(self, config: Config, library: Library) -> WorkerNeeds:
        """Return where the files are that hold weights of seed models."""
        sources = seed_sources(config) if library.name == LIBRARY else ()
        folders = {name: str(path) for one in sources for name, path in one.weights_in.items()}
        return WorkerNeeds(
            variables={FOLDERS: json.dumps(folders)} if folders else {},
            readable=readable_paths(
                (path for one in sources for path in one.readable), home=Path.home()
            ),
            writable=tuple(path for one in sources for path in one.writable),
        )

    def streams(self, factory: StreamFactory) -> Generator[Event, None, list[Stream]]:
        """Return one stream. A shard mutates seed models of its own.

        Raises:
            ConfigurationError: if no target is one of Keras, or no seed model can be described.
            WorkerStartError: if the server of the target that describes them is gone.
        """
        config = factory.config
        refuse_without_keras(factory.groups)
        group = factory.groups[LIBRARY]
        if not group.running_eagerly:
            return []
        models = yield from seed_models(group, config, factory.dispatcher)
        own = config.shard.part(models)
        chosen = select_layers(group.records(), config.api, config.exclude)
        level = ModelLevel(
            chosen,
            config.shard.seed(config.seed),
            models=own,
            amplification=amplification,
            repeats=REPEATS_WHERE_COMPILED if _compiles(group) else 0.0,
        )
        names = "\n".join(model.name for model in own)
        kind = f"{self.name} of {config[WIDTH]} % width: {names}"
        stream = factory.stream(level, group, kind=kind, chosen=digest_of_apis(chosen))
        stream.is_whole, stream.spares, stream.limit_s = True, True, _LIMIT_S
        return [stream]

    def investigator(self, dispatcher: Dispatcher) -> Isolator:
        """Return what goes from a model on which targets disagree to the layer that brings it."""
        return Isolator(dispatcher)

    def script(self, finding: Finding, hint: EnvironmentHint) -> str:
        """Return a script that runs the graph."""
        return model_script(finding, hint)

    def variants(self, case: ModelCase) -> Iterator[ModelCase]:
        """Yield runs of the layer with fewer rows, plainer data, fewer constructor arguments."""
        return simpler_models(case)

    def inputs(self, case: ModelCase) -> InputPrecision:
        """Return how exact the outputs of a run can be."""
        return inputs_of(case)

    def nudged(self, case: ModelCase, seed: int, move: Move) -> ModelCase:
        """Return the run with data and weights moved by one rounding."""
        del move
        return nudged_run(case, seed)

    def witnesses(self, finding: Finding) -> tuple[str, ...]:
        """Return the target that is believed.

        The condition of a layer is known from double precision as well. Half precision inside of
        the other target looks like a condition, and is its defect.
        """
        return finding.targets[:1]

    def is_broken(self, case: ModelCase, output: Output, inputs: InputPrecision) -> bool:
        """Return whether a layer computes otherwise once it was saved and loaded."""
        del case
        return changed_by_saving(output, inputs) is not None

    def origin_rows(self, case: ModelCase, named: Callable[[str], str]) -> list[tuple[str, str]]:
        """Return the seed model with its mutations, and what was compared."""
        rows = (("Found in", origin_text(case, named)), ("Compared", checked_text(case)))
        return [(name, text) for name, text in rows if text]

    def layer_origin(self, case: ModelCase) -> LayerOrigin:
        """Return the model, its mutations, and what its layers deviated by."""
        return layer_origin(case)


def _compiles(group: Group) -> bool:
    """Return whether a target compiles each operation for each shape."""
    known = LIBRARIES.items()
    environments = [member.environment for member in group.running]
    backends = [one.variables.get(one.library.backend_variable, "") for one in environments]
    return any(known[name].compiles_each_shape for name in backends if name in known)


LEVEL = ModelSpec()
ORACLES.register("layer-runs", LayerRunOracle())
