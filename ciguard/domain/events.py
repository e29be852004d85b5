"""Events that a campaign sends while it runs. Reporters and other listeners receive them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from ciguard.domain.shards import Shard

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ciguard.domain.baseline_status import BaselineStatus
    from ciguard.domain.detection import Detection
    from ciguard.domain.documentation import DocumentationFinding
    from ciguard.domain.findings import Bucket, TargetSummary, Verdict
    from ciguard.domain.lineage import NodeOutcome
    from ciguard.domain.parts import Gap, Part
    from ciguard.domain.plan import Plan
    from ciguard.domain.value_table import ValueTable


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted:
    """A campaign begins."""

    targets: tuple[str, ...]
    levels: tuple[str, ...]
    seed: int
    budget_s: float
    jobs: int
    out: str
    resumed: bool = False
    plan: Plan | None = None
    """The plan that chose APIs and targets; None for a run without a plan."""
    shard: Shard = field(default_factory=Shard)
    """The part of the campaign that this run executes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Provisioning:
    """A target's environment is being built or looked up. Sent when the step begins and ends."""

    target: str
    step: str
    """Description of the step: `installing torch==2.13.0`, `ready (cached)`."""
    done: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetReady:
    """A target can run cases."""

    target: TargetSummary


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetUnavailable:
    """A target cannot run: its cases count as `not run`, never as clean."""

    target: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchFinished:
    """A batch of cases was executed on one target, and the oracles judged the outcomes."""

    target: str
    api: str
    counts: Mapping[str, int]
    """Number of cases in this batch by outcome status."""
    elapsed_s: float
    """Time since the run started, in seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstPassFinished:
    """Every selected API of a library was called once."""

    library: str
    apis: int
    """Number of selected APIs."""
    excluded: Mapping[str, int]
    """Number of further APIs of the library that are not called, by the tag that excludes them."""
    elapsed_s: float
    """Time since the run started, in seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramRan:
    """The program of one node of a derivation tree was run, and the oracles judged the outcomes.

    May hold fuzzed text.
    """

    seed: str
    """Name of the seed program."""
    tree: int
    """Index of the derivation tree among those grown from the seed."""
    node: str
    """Identifier of the node, see `LineageNode`."""
    parent: str
    """Identifier of the parent node."""
    block: str
    """Name that the program's last block has in the seed."""
    depth: int
    """Number of blocks in the program."""
    step: str
    """Label of the last derivation step: `AR conv2: Conv2d → ConvTranspose2d`."""
    ended: NodeOutcome
    line: int = 0
    """Line of the changed call in the program, from 1; 0 if unknown."""
    program: str = ""
    """Source of the program; empty unless the outcome is wrong."""
    before: str = ""
    """Source of the parent's program; empty unless the outcome is wrong and the parent is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketOpened:
    """A finding was confirmed, the first with its fingerprint in this run."""

    bucket: Bucket


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketFlaky:
    """At least one repetition did not reproduce a finding."""

    bucket: Bucket


@dataclass(frozen=True, slots=True, kw_only=True)
class StageFinished:
    """A stage of the run ended: provision, describe, replay, explore, measure or confirm."""

    stage: str
    spent_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentationChecked:
    """The documentation of a library was checked, once per run."""

    library: str
    findings: tuple[DocumentationFinding, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Warned:
    """A warning for the user that does not stop the run."""

    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketHistory:
    """History of a bucket in the baseline when the run began. Times are UTC, as text."""

    first_seen: str
    last_seen: str
    states: tuple[tuple[str, str], ...] = ()
    """Time and new state of each change, oldest first: `open`, `fixed`, `accepted` or `flaky`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFinished:
    """The run ended: always the last event, also after an interruption."""

    verdict: Verdict
    exit_code: int
    summary: str
    """The verdict as one sentence."""
    targets: tuple[TargetSummary, ...]
    buckets: tuple[Bucket, ...]
    """Buckets of this run, and buckets of the baseline that are fixed or were not exercised."""
    stages: Mapping[str, float]
    """Time spent in seconds, by stage."""
    apis_exercised: Mapping[str, int] = field(default_factory=dict)
    """Number of APIs of the catalogue that were called at least once, by target."""
    history: Mapping[str, BucketHistory] = field(default_factory=dict)
    """Baseline history when the run began, by fingerprint, including fixed buckets."""
    parameters: Mapping[str, object] = field(default_factory=dict)
    """All parameters needed to repeat the campaign, for `run.json`."""
    parts: tuple[Part, ...] = ()
    """Input of `ciguard merge`: the run's own part, or all parts of a merged run."""
    gaps: tuple[Gap, ...] = ()
    """Parts and targets that were missing when the run was merged."""
    detection: Detection | None = None
    """Planted defects, and which of them oracles have noticed; None if none were planted."""
    values: ValueTable | None = None
    """Kinds of the arguments that level `api` has drawn; None if there were no such cases."""
    baseline: BaselineStatus | None = None
    """Status of the baseline when the run began; None if it was not checked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleInput:
    """An image, text or sound that an application received, to be shown in reports."""

    content: bytes
    media: str
    """Media type: `image/png`, `image/jpeg`, `audio/wav` or `text/plain`."""
    wanted: str
    """Content that a person would recognise in the input, such as a label or a sentiment."""
    origin: str
    """Source of the input: a data set, a web page or a generator."""
    licence: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class InputsMishandled:
    """A function of an application does not treat inputs as a person would expect."""

    target: str
    api: str
    line: int
    """Line of the sub-condition, or of the failure."""
    description: str
    """Description of the behaviour. Holds text of the application: escape it for display."""
    inputs: tuple[SampleInput, ...]


Event: TypeAlias = (
    RunStarted
    | Provisioning
    | TargetReady
    | TargetUnavailable
    | BatchFinished
    | FirstPassFinished
    | ProgramRan
    | BucketOpened
    | BucketFlaky
    | StageFinished
    | DocumentationChecked
    | InputsMishandled
    | Warned
    | RunFinished
)
