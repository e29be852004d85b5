"""Parts of campaigns on the planted library, as shards leave them."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from campaign_examples import ONE, TWO, bucket, crash, difference
from hypothesis import strategies as st

from ciguard.domain.detection import DefectKind, Detection, PlantedDefect
from ciguard.domain.documentation import DocumentationCheck, DocumentationFinding
from ciguard.domain.findings import Confirmation, Tally, TargetSummary, Verdict
from ciguard.domain.parts import PARTS_FILE, Part, StreamProgress, part_to_json
from ciguard.domain.shards import Shard

if TYPE_CHECKING:
    from pathlib import Path

CAMPAIGN: dict[str, Any] = {
    "seed": 0,
    "max_cases": 640,
    "levels": ["api"],
    "api": ["*"],
    "exclude": [],
    "allow": [],
    "relations": ["*"],
    "focus": [],
    "models": [],
    "model_width": 25,
    "programs": ["*"],
    "mutations": 4,
    "breadth": 8,
    "encoder": "tf-idf",
    "functions": [],
}
CRASH, VALUES = bucket(crash()), bucket(difference())
FLAKY = bucket(crash("checked"), confirmation=Confirmation.FLAKY, shown=1, tried=3)
PENDING = replace(FLAKY, confirmation=Confirmation.PENDING, shown=0, tried=0)
SIMPLER = replace(CRASH, finding=crash(argument=-0), count=4)
BUCKETS = (CRASH, VALUES, FLAKY, PENDING, SIMPLER)
STREAM = "0123456789abcdef"
DANGLING = DocumentationFinding(
    check=DocumentationCheck.DANGLING,
    library="planted",
    api="planted.double",
    parameter="x",
    message="refers to y",
    evidence="same shape as y",
)

DETECTION = Detection(
    caught=(PlantedDefect(DefectKind.CRASH, "planted.double"),),
    missed=(PlantedDefect(DefectKind.VALUE, "planted.cube"),),
    uncalled=(),
)


def target(name: str, **changes: Any) -> TargetSummary:
    made = TargetSummary(
        name=name,
        library="planted",
        version="1.0",
        python="3.11.7",
        device="cpu",
        packages={"numpy": "2.4.6"},
        confined_by=("landlock", "seccomp"),
        apis=32,
        tally=Tally(passed=5, crashed=1),
    )
    return replace(made, **changes)


def part(shard: Shard | None = None, **changes: Any) -> Part:
    """Return the part of one shard of two."""
    made = Part(
        ciguard="0.1.0",
        campaign=CAMPAIGN,
        targets=(ONE, TWO),
        shard=shard or Shard(1, 2),
        verdict=Verdict.PART,
        budget_s=60.0,
        explored_in_s=60.0,
        ran=(target(ONE), target(TWO)),
        exercised={ONE: frozenset({"planted.double"}), TWO: frozenset({"planted.cube"})},
        replayed={},
        shown_on={},
        explored={STREAM: StreamProgress(batches=40, learned="")},
        stages={"explore": 20.0},
        buckets=(),
    )
    return replace(made, **changes)


def written(folder: Path, *parts: Part) -> Path:
    """Return a folder that holds parts."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(part_to_json(one)) + "\n" for one in parts]
    (folder / PARTS_FILE).write_text("".join(lines), "utf-8")
    return folder


@st.composite
def parts(draw: st.DrawFn) -> Part:
    """Draw a part of one of a few campaigns, which may be a rival of another draw."""
    of = draw(st.integers(1, 3))
    names = draw(st.sampled_from([(ONE,), (TWO,), (ONE, TWO)]))
    met = draw(st.lists(st.sampled_from(BUCKETS), unique_by=lambda b: b.fingerprint))
    return part(
        Shard(draw(st.integers(1, of)), of),
        campaign={**CAMPAIGN, "seed": draw(st.sampled_from([0, 0, 0, 1]))},
        targets=names,
        verdict=draw(st.sampled_from([Verdict.PART, Verdict.PART, Verdict.INTERRUPTED])),
        ran=tuple(
            target(name, tally=Tally(passed=draw(st.integers(0, 3))), version=draw(VERSIONS))
            for name in names
        ),
        replayed=draw(st.sampled_from([{}, {VALUES.fingerprint: frozenset(names)}])),
        shown_on=draw(st.sampled_from([{}, {CRASH.fingerprint: frozenset({names})}])),
        explored={STREAM: StreamProgress(batches=draw(st.integers(0, 99)), learned="")},
        buckets=tuple(met),
        documentation=draw(st.sampled_from([(), (DANGLING,)])),
        detection=draw(st.sampled_from([None, DETECTION])),
    )


VERSIONS = st.sampled_from(["1.0", "2.0"])
