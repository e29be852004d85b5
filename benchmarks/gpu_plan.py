"""The steps of `gpu.py`, which may run in several commands, each within its time."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gpu_rig import Sheet

CAMPAIGNS = ("aa", "cpu", "two")
"""Campaigns: the device with itself, with the CPU, and with a second device."""
SECONDS = {
    "torch": {"aa": 360, "cpu": 480, "two": 120},
    "jax": {"aa": 60, "cpu": 240, "two": 60},
}
SECONDS_OF_OTHERS = {"aa": 30, "cpu": 90, "two": 60}
PARTS = {"workers": 60, "modes": 40, "throughput": 20}
"""Estimated seconds of the other parts, by name."""
_AROUND_S = 20
"""Estimated seconds in which a campaign starts and ends."""


@dataclass(frozen=True)
class Step:
    """One part of the plan for one library."""

    library: str
    part: str
    campaign: str = ""
    seconds: int = 0
    """Time of the campaign, or estimated time of another part."""

    @property
    def name(self) -> str:
        """Name in the sheet."""
        return " ".join(filter(None, (self.library, self.part, self.campaign)))

    @property
    def needed_s(self) -> int:
        """Estimated time of the whole step."""
        return self.seconds + (_AROUND_S if self.campaign else 0)


def steps_of(
    library: str, parts: Sequence[str], campaigns: Sequence[str], seconds: int | None
) -> list[Step]:
    """Return the steps of a library, in order.

    Args:
        library: name of the library.
        parts: names of parts; `campaigns` has one step per campaign.
        campaigns: names of the campaigns.
        seconds: time of each campaign; None for the plan's.
    """
    steps = []
    for part in parts:
        if part != "campaigns":
            steps.append(Step(library, part, seconds=PARTS.get(part, 0)))
            continue
        times = SECONDS.get(library, SECONDS_OF_OTHERS)
        steps += [Step(library, part, name, seconds or times[name]) for name in campaigns]
    return steps


def run_steps(
    sheet: Sheet, steps: Sequence[Step], run: Callable[[Step], None], *, minutes: float | None
) -> list[Step]:
    """Run steps one after the other, and return those that are left for another command.

    A step whose code raises an exception is a failed line; the others are run all the same.

    Args:
        sheet: the lines; with `minutes`, steps that it has of earlier commands are not repeated.
        steps: the steps.
        run: runs one step, and adds its lines.
        minutes: time of this command; a step that may end later is left. None for no limit.
    """
    done = dict(sheet.earlier.get("steps", {}))
    sheet.figures["steps"] = done
    if minutes is not None:
        steps = [step for step in steps if step.name not in done]
    total_s = sum(step.needed_s for step in steps)
    sys.stdout.write(f"{len(steps)} steps, about {total_s / 60:.0f} minutes\n")
    began = time.monotonic()
    for number, step in enumerate(steps):
        started = time.monotonic()
        if minutes is not None and started - began + step.needed_s > 60 * minutes:
            return list(steps[number:])
        sys.stdout.write(f"----  {step.name}, about {step.needed_s} s\n")
        try:
            run(step)
        except Exception as error:  # noqa: BLE001 - the other steps are run all the same
            sheet.add(step.name, passed=False, detail=f"{type(error).__name__}: {error}")
        done[step.name] = round(time.monotonic() - started, 1)
        sheet.store()
    return []
