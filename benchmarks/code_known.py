"""Defects that were reported of released libraries: which does level `code` find, and how?

    python benchmarks/code_known.py [--only NAME] [--budget 90s] [--seed 0] [--jobs 1] [--out DIR]

For each, a campaign on the version that has it, over the few APIs that lead there. Where seed
programs that come with ciguard do not, one of `known_programs` is the seed. Ends with 1 if one that
the level is known to find is not found; what it cannot find is told with the reason.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from planted_campaign import campaign

from ciguard.domain.findings import Confirmation
from ciguard.errors import ProvisioningError
from ciguard.targets import parse_target, provision

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ciguard.domain.findings import Bucket

_PROGRAMS = Path(__file__).parent / "known_programs"


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """One defect of a released version."""

    name: str
    target: str
    api: str
    """That a finding must name."""
    words: str
    """That its message must hold: the argument."""
    program: str
    """Seed program: the name of one that comes with ciguard, or a file of `known_programs`."""
    beyond: str = ""
    """Why the level cannot find it; empty: it can."""


KNOWN = (
    Known(
        name="circular-conv1d",
        target="torch==2.0.1",
        api="torch.nn.Conv1d",
        words="padding_mode='circular'",
        program="pointnet",
    ),
    Known(
        name="circular-conv2d",
        target="torch==2.0.1",
        api="torch.nn.Conv2d",
        words="padding_mode='circular'",
        program="lenet",
    ),
    Known(
        name="leaky-negative",
        target="tensorflow-cpu==2.12.0",
        api="tensorflow.keras.layers.LeakyReLU",
        words="alpha=-",
        program="leaky_keras.py",
    ),
    Known(
        name="pool-kernel",
        target="jittor==1.3.8.5",
        api="jittor.nn.Pool",
        words="kernel_size=",
        program="pooling_jittor.py",
        beyond="the documentation says nothing of kernel_size, so that nothing is forbidden",
    ),
    Known(
        name="upsample-bare",
        target="jittor==1.3.8.5",
        api="jittor.nn.Upsample",
        words="without scale_factor",
        program="pooling_jittor.py",
    ),
)


def found_of(known: Known, buckets: Sequence[Bucket]) -> list[Bucket]:
    """Return the confirmed buckets that tell of a defect."""
    return [
        bucket
        for bucket in buckets
        if bucket.confirmation is Confirmation.CONFIRMED
        and bucket.finding.api == known.api
        and known.words in bucket.finding.message
    ]


def flags_of(known: Known) -> Iterator[tuple[str, str]]:
    """Yield the flags of the command that lead to a defect."""
    own = _PROGRAMS / known.program
    yield "--program", str(own) if own.is_file() else known.program
    yield "--api", known.api


def main() -> int:
    """Run the benchmark; exit 1 if anything is missed that can be found.

    A version that cannot be provisioned is told, and is no failure.
    """
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", action="append", help="name of a defect; more than once")
    parser.add_argument("--budget", default="90s", help="of one campaign")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, help="keep the runs' results here")
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for known in KNOWN:
            if not options.only or known.name in options.only:
                results = (options.out or Path(folder)) / known.name
                rows += [_row(known, options, results)]
    print(f"\n{'defect':<18}{'target':<24}{'found':<7}how")
    for known, is_found, how in rows:
        says = "?" if is_found is None else ("NO", "yes")[is_found]
        print(f"{known.name:<18}{known.target:<24}{says:<7}{how}")
    return int(any(is_found is False and not known.beyond for known, is_found, _ in rows))


def _row(known: Known, options: argparse.Namespace, out: Path) -> tuple[Known, bool | None, str]:
    """Return a defect, whether it is found, and by what or why not; None where nothing was run."""
    try:
        provision(parse_target(known.target), on_step=lambda _: None)
    except ProvisioningError as error:
        return known, None, f"not run: {str(error).partition(chr(10))[0]}"
    buckets = campaign("code", (known.target,), options, out, flags_of(known))
    found = found_of(known, buckets)
    ways = [f"{one.finding.oracle}: {one.finding.message:.110}" for one in found]
    return known, bool(found), "; ".join(ways) or known.beyond or "not met in time"


if __name__ == "__main__":
    sys.exit(main())
