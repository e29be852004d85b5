"""Events: everything a campaign says while it runs. Plain values; listeners decide what to show."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from ciguard.domain.shards import Shard

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ciguard.domain.documentation import DocumentationFinding
    from ciguard.domain.findings import Bucket, TargetSummary, Verdict
    from ciguard.domain.lineage import NodeOutcome
    from ciguard.domain.parts import Gap, Part
    from ciguard.domain.plan import Plan
    from ciguard.domain.standing import BaselineStanding


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted:
    """A campaign begins: what it will do."""

    targets: tuple[str, ...]
    levels: tuple[str, ...]
    seed: int
    budget_s: float
    jobs: int
    out: str
    resumed: bool = False
    plan: Plan | None = None
    """What was chosen and why, where somebody planned it."""
    shard: Shard = field(default_factory=Shard)
    """The part of the campaign that this run does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Provisioning:
    """A target's environment is being built or found. Sent when it begins and when it is done."""

    target: str
    step: str
    """What is being done, for a person: `installing torch==2.13.0`, `ready (cached)`."""
    done: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetReady:
    """A target can run cases."""

    target: TargetSummary


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetUnavailable:
    """A target cannot run: its cases are `not run`, never clean."""

    target: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchFinished:
    """A group of cases was executed on one target and judged."""

    target: str
    api: str
    counts: Mapping[str, int]
    """Cases of this batch by outcome status."""
    elapsed_s: float
    """Since the run started."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramRan:
    """The program of one node of a derivation tree was run and judged. Texts may be fuzzed."""

    seed: str
    """Name of the seed program."""
    tree: int
    """Which of the trees that were grown of it."""
    node: str
    """See `LineageNode`."""
    parent: str
    block: str
    """Name of its last block in the seed."""
    depth: int
    """How many blocks it has; those of a seed always follow each other in one order."""
    step: str
    """What was done last, in a few words: `AR conv2: Conv2d → ConvTranspose2d`."""
    ended: NodeOutcome
    line: int = 0
    """Of the changed call in the program."""
    program: str = ""
    """Only where it ended wrong, like the parent's program."""
    before: str = ""
    """The parent's program; empty where it is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketOpened:
    """A finding was confirmed, and none of this run had its fingerprint before."""

    bucket: Bucket


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketFlaky:
    """A finding did not reproduce every time."""

    bucket: Bucket


@dataclass(frozen=True, slots=True, kw_only=True)
class StageFinished:
    """A part of the run is over: provision, describe, replay, explore, measure, confirm."""

    stage: str
    spent_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentationChecked:
    """The documentation of a library was read, once per run."""

    library: str
    findings: tuple[DocumentationFinding, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Warned:
    """Something a person should know that does not stop the run."""

    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketHistory:
    """What the baseline knew of a bucket when the run began. Times are UTC, as text."""

    first_seen: str
    last_seen: str
    states: tuple[tuple[str, str], ...] = ()
    """(time, state) of every change, the oldest first: `open`, `fixed`, `accepted`, `flaky`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFinished:
    """Always the last event, also after an interruption."""

    verdict: Verdict
    exit_code: int
    summary: str
    """The verdict as one sentence."""
    targets: tuple[TargetSummary, ...]
    buckets: tuple[Bucket, ...]
    """Every bucket of this run, and the baseline's that are fixed or were not run; compared."""
    stages: Mapping[str, float]
    """Seconds spent, by stage."""
    apis_exercised: Mapping[str, int] = field(default_factory=dict)
    """Per target: how many APIs of its catalogue were called at least once."""
    history: Mapping[str, BucketHistory] = field(default_factory=dict)
    """What was known when the run began, by fingerprint; what was fixed before is in it too."""
    parameters: Mapping[str, object] = field(default_factory=dict)
    """Everything needed to run the same campaign again: written to `run.json`."""
    parts: tuple[Part, ...] = ()
    """What `ciguard merge` needs of this run: one part, or all that it was merged from."""
    gaps: tuple[Gap, ...] = ()
    """What was missing when it was merged."""
    baseline: BaselineStanding | None = None
    """How far the baseline could be trusted when the run began; None where nobody looked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TriedInput:
    """An image, a text or a sound that an application was given, for people to look at."""

    content: bytes
    media: str
    """`image/png`, `image/jpeg`, `audio/wav` or `text/plain`."""
    wanted: str
    """What people would recognise in it."""
    origin: str
    licence: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class InputsMissed:
    """A function of an application does not do with inputs what people would expect."""

    target: str
    api: str
    line: int
    """Of the sub-condition, or where it fails."""
    says: str
    """What it does. Holds text of the application: escape where it is shown."""
    inputs: tuple[TriedInput, ...]


Event: TypeAlias = (
    RunStarted
    | Provisioning
    | TargetReady
    | TargetUnavailable
    | BatchFinished
    | ProgramRan
    | BucketOpened
    | BucketFlaky
    | StageFinished
    | DocumentationChecked
    | InputsMissed
    | Warned
    | RunFinished
)
