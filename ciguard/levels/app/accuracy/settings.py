"""Settings for the assessment of applications, from the user's options."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.levels.app.dead_conditions.vocabulary import read_vocabulary
from ciguard.levels.app.input_synthesis.inverse_chain import InputSources, inverse_of
from ciguard.levels.app.input_synthesis.search_engines import search_of
from ciguard.levels.app.providers.description import RecognitionTask
from ciguard.levels.app.repair.measures import ALPHA
from ciguard.levels.app.repair.relatedness import (
    CombinedRelatedness,
    SharedWords,
    known_relations,
    read_taxonomy,
)
from ciguard.levels.app.virtualization.choosing import local_engines
from ciguard.levels.app.virtualization.confusion_matrix import read_confusion_matrix
from ciguard.levels.app.virtualization.engine_chain import EngineChain
from ciguard.levels.app.virtualization.faces import FaceEngine
from ciguard.levels.app.virtualization.faults import read_faults
from ciguard.levels.app.virtualization.recording import ReplayEngine, with_recording
from ciguard.levels.app.virtualization.service import RealService
from ciguard.targets import cache_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from ciguard.levels.app.exploration.process_environment import ProcessEnvironment
    from ciguard.levels.app.input_synthesis.inputs import Inverse, ServiceInput
    from ciguard.levels.app.repair.relatedness import Relatedness
    from ciguard.levels.app.virtualization.faults import Fault


_CONFUSION = 0.1
"""Error rate of simulated answers, so low that a correct branch exceeds the minimum recall."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccuracyOptions:
    """The user's options for the assessment of applications."""

    images: Path | None = None
    """Folder with one subfolder per label, which holds images of the label or texts about it."""
    search: str = ""
    """Search engine for missing images, one of `SEARCHES`; if empty, none is used."""
    search_url: str | None = None
    """URL of a server with the same API; if None, the search engine's own."""
    cache: Path | None = None
    """Folder for images from the search; if None, one in ciguard's cache folder."""
    texts: Path | None = None
    """CSV file with texts and their sentiments."""
    labels: Path | None = None
    """File with the labels that the service can return."""
    relations: Path | None = None
    """File with related labels, such as a thing and a kind of that thing."""
    confusion_matrix: Path | None = None
    """File with the confusion matrix of a simulated service."""
    replay: Path | None = None
    """Recording whose answers replace those of the service."""
    record: Path | None = None
    """File in which answers are recorded; None for no recording."""
    is_real: bool = False
    """True if the application calls the real service."""
    inputs: int = 100
    """Approximate number of inputs of a function, as in the Keeper paper's evaluation."""
    alpha: float = ALPHA
    """Minimum recall of a branch; a lower one is a failure."""
    seed: int = 0
    budget_s: float = 120.0
    """Time budget of one function, in seconds."""
    process_environment: ProcessEnvironment | None = None
    """Environment of the application's process; if None, `ProcessEnvironment()`."""
    faults: Path | None = None
    """File with the faults to inject; None for no faults."""

    @property
    def image_folder(self) -> Path:
        """Folder for the images that a search finds."""
        return self.cache or cache_folder() / "images"


@dataclass(frozen=True, slots=True, kw_only=True)
class AccuracySettings:
    """Settings of the assessment: the user's options, and the objects that they select."""

    options: AccuracyOptions
    inverse: Inverse
    """The input synthesis."""
    engines_for: Callable[[Sequence[ServiceInput]], EngineChain]
    """Function from all inputs of a function to the engines that answer instead of the service."""
    relatedness: Relatedness
    """Relatedness of labels: a repair adds only labels that are related to one of the branch."""
    faults: tuple[Fault, ...] = ()
    """Faults to inject, in calls after those without faults."""


def settings_for(options: AccuracyOptions) -> AccuracySettings:
    """Return the settings of the assessment.

    Raises:
        ConfigurationError: if the content of a file or folder is invalid.
    """
    labels = read_vocabulary(options.labels) if options.labels else None
    confusion_matrix = (
        read_confusion_matrix(options.confusion_matrix) if options.confusion_matrix else None
    )
    recorded = ReplayEngine(options.replay) if options.replay else None
    relatedness: list[Relatedness] = [known_relations(), SharedWords()]
    if options.relations:
        relatedness.append(read_taxonomy(options.relations))

    def engines_for(inputs: Sequence[ServiceInput]) -> EngineChain:
        if recorded is not None:
            return EngineChain((recorded,))
        if options.is_real:
            return EngineChain(with_recording(options.record, [RealService()]))
        known = {item.digest: item.wanted for item in inputs}
        engines = local_engines(
            labels,
            known,
            confusion=_CONFUSION,
            seed=options.seed,
            confusion_matrix=confusion_matrix,
        ).engines
        # The local engine detects faces, but not their emotions.
        if any(item.wanted.task is RecognitionTask.FACES and item.wanted.key for item in inputs):
            engines = tuple(engine for engine in engines if not isinstance(engine, FaceEngine))
        return EngineChain(with_recording(options.record, engines))

    sources = InputSources(
        images=options.images,
        search=search_of(options.search, options.search_url) if options.search else None,
        image_folder=options.image_folder,
        texts=options.texts,
        is_simulated=recorded.is_simulated if recorded is not None else not options.is_real,
    )
    return AccuracySettings(
        options=options,
        inverse=inverse_of(sources),
        engines_for=engines_for,
        relatedness=CombinedRelatedness(*relatedness),
        faults=read_faults(options.faults) if options.faults else (),
    )
