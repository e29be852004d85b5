"""The way of a case over a GPU, line by line: pass or fail. For any machine that has one.

    python benchmarks/gpu.py [--only workers,…] [--seconds 60] [--json FILE] [--keep FOLDER]
    python benchmarks/gpu.py --json FILE --minutes 10      # again and again, until it exits with 0

Without a GPU, it says so and exits with 2.

It tests `current[torch]`, `current[jax]` and the other libraries that the active environment
holds, on the CPU and on the first CUDA device, and installs nothing. It prints one line per check,
and at the end those that failed; it exits with 1 if there are any, or if there is no library.
torch and JAX take 25 minutes, another library 4: two minutes for workers, modes and throughput, and
the campaigns in `gpu_plan.SECONDS`. `--seconds` is another time for each campaign.

With `--json` the lines and figures are written, too, after each line; what the file holds of
earlier commands is kept, so that the plan can run in parts (`--libraries`, `--only`,
`--campaigns`). With `--minutes`, a command stops before a step that may end later, exits with 3,
and goes on with that step when it is repeated. With `--keep`, the results of the campaigns are
kept.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpu_cases import CALLS
from gpu_plan import CAMPAIGNS, Step, run_steps, steps_of
from gpu_rig import MemoryWatch, Sheet, device_memory_mib, devices
from gpu_workers import modes, started, workers

from ciguard.errors import CiguardError
from ciguard.execution import Dispatcher
from ciguard.execution.worker.landlock import landlock_abi
from ciguard.targets import parse_target, provision

if TYPE_CHECKING:
    from collections.abc import Sequence


MIN_THROUGHPUT = 0.25
"""Of the raw loop's calls per second."""
FALSE_SIGNS = ("get_device", "not implemented for")
MAX_LANES = 4
MAX_GROWTH_MIB = 300
WHAT = ("workers", "modes", "campaigns", "throughput")
NO_DEVICE, UNFINISHED = 2, 3
"""Exit codes on a machine without a GPU, and if `--minutes` left steps."""


def surroundings(sheet: Sheet, found: Sequence[str]) -> None:
    """Take note of the machine."""
    sheet.figures["device"] = "\n".join(found)
    sheet.figures["landlock"] = landlock_abi()
    sheet.add("device", passed=True, detail="; ".join(found))
    sheet.add("kernel", passed=True, detail=f"{os.uname().release}, Landlock {landlock_abi()}")


def installed(sheet: Sheet, libraries: Sequence[str]) -> list[str]:
    """Return the libraries that the active environment holds."""
    found = []
    for library in libraries:
        try:
            environment = provision(parse_target(f"current[{library}]"), on_step=lambda _: None)
        except CiguardError as error:
            sys.stdout.write(f"      {library} is not tested: {error}\n")
            continue
        sheet.figures[f"{library} version"] = environment.version
        found.append(library)
    if not found:
        sheet.add("a library is installed", passed=False, detail=", ".join(libraries))
    return found


def throughput(sheet: Sheet, library: str) -> None:
    """Hold the engine's cases per second against a loop that makes the same call."""
    calls = CALLS[library]
    python = provision(parse_target(f"current[{library}]"), on_step=lambda _: None).python
    raw = subprocess.run([python, "-c", calls.raw], capture_output=True, text=True, check=False)
    with Dispatcher() as dispatcher:
        bench = started(sheet, dispatcher, f"current[{library}]@cuda")
        if bench is None or raw.returncode:
            sheet.add(f"{library}: throughput", passed=False, detail=raw.stderr[-300:])
            return
        bench.run([calls.plain] * 200)
        count = 8000
        _, elapsed_s = bench.run([calls.plain] * count)
    ratio = count / elapsed_s / float(raw.stdout)
    sheet.figures[f"{library} cases per s"] = count / elapsed_s
    sheet.figures[f"{library} raw calls per s"] = float(raw.stdout)
    sheet.add(
        f"{library}: throughput beside the raw loop",
        passed=ratio >= MIN_THROUGHPUT,
        detail=f"{count / elapsed_s:.0f} cases/s, {float(raw.stdout):.0f} calls/s: {ratio:.0%}",
    )


def campaign(sheet: Sheet, step: Step, keep: Path | None) -> None:
    """Run a whole campaign: a device against itself, the CPU, or a second device."""
    device, host = f"current[{step.library}]@cuda", f"current[{step.library}]"
    pairs = {"aa": [device, device], "cpu": [host, device], "two": [device, f"{device}:1"]}
    name = f"{step.library} {step.campaign}"
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        before = device_memory_mib()
        with MemoryWatch() as watch:
            buckets, run = _campaign(pairs[step.campaign], step.seconds, out)
        after = device_memory_mib()
        if keep is not None:
            _keep(out, keep, name.replace(" ", "-"))
    _judge_campaign(sheet, name, buckets, run, is_same=step.campaign != "cpu")
    _judge_memory(sheet, name, watch, before, after)


def _judge_memory(sheet: Sheet, name: str, watch: MemoryWatch, before: int, after: int) -> None:
    samples = watch.samples_mib
    sheet.figures[f"{name} device MiB"] = {"before": before, "samples": samples, "after": after}
    sheet.add(
        f"{name}: device memory is flat, and given back",
        passed=after <= before + MAX_GROWTH_MIB and watch.growth_mib <= MAX_GROWTH_MIB,
        detail=f"{before} MiB before, at most {max(samples, default=0)} during, {after} after; "
        f"the last third exceeds the one before by {watch.growth_mib}",
    )


def _campaign(targets: Sequence[str], seconds: int, out: Path) -> tuple[list[Any], Any]:
    words = [word for target in targets for word in ("--target", target)]
    argv = [sys.executable, "-m", "ciguard", "run", *words, "--budget", f"{seconds}s"]
    argv += ["--out", str(out), "--baseline", str(out.parent / "baseline"), "--seed", "71"]
    argv += ["--jobs", str(max(1, min(MAX_LANES, (os.cpu_count() or 2) // 3)))]
    done = subprocess.run(argv, cwd=out.parent, capture_output=True, text=True, check=False)
    sys.stdout.write(done.stdout[-3000:] + done.stderr[-1500:])
    try:
        buckets = [json.loads(line) for line in (out / "buckets.jsonl").read_text().splitlines()]
        run = json.loads((out / "run.json").read_text())
    except OSError as error:
        return [], {"error": str(error), "targets": [], "unbuilt": []}
    texts = done.stdout.splitlines() + done.stderr.splitlines()
    run["unbuilt"] = [text for text in texts if "could not be built" in text]
    return buckets, run


def _judge_campaign(
    sheet: Sheet, name: str, buckets: Sequence[Any], run: Any, *, is_same: bool
) -> None:
    _judge_cases(sheet, name, run)
    sheet.figures[f"{name} unconfirmed"] = sum(not bucket["confirmed"] for bucket in buckets)
    buckets = [bucket for bucket in buckets if bucket["confirmed"]]
    counts = Counter(f"{b['oracle']}/{b['kind']} {b['severity']}" for b in buckets)
    sheet.figures[f"{name} buckets"] = dict(counts)
    between = [b for b in buckets if b["oracle"] == "differential" and b["severity"] != "info"]
    if is_same:
        noisy = [b for b in buckets if b["oracle"] in {"differential", "hang", "exhaustion"}]
        sheet.add(
            f"{name}: no difference, hang or exhaustion",
            passed="error" not in run and not noisy,
            detail=[f"{b['oracle']} {b['api']}: {b['message'][:90]}" for b in noisy]
            or dict(counts),
        )
        return
    false = [b for b in between if any(sign in b["message"] + b["api"] for sign in FALSE_SIGNS)]
    sheet.add(
        f"{name}: no difference by weights, TF32, get_device or a missing kernel",
        passed="error" not in run and not false,
        detail=[f"{b['api']}: {b['message'][:90]}" for b in false] or dict(counts),
    )
    for bucket in between:
        shown = f"{bucket['severity']} {bucket['kind']} {bucket['api']}: {bucket['message'][:150]}"
        sys.stdout.write(f"      {shown}\n")


def _judge_cases(sheet: Sheet, name: str, run: Any) -> None:
    """Check that cases were compared at all, on each target."""
    cases = [sum(target["outcomes"].values()) for target in run["targets"]]
    reasons = [target["not_run"] for target in run["targets"] if target["not_run"]]
    sheet.figures[f"{name} cases"] = cases
    sheet.add(
        f"{name}: cases ran on both targets, and their arguments could be built",
        passed=len(cases) > 1 and all(cases) and not reasons and not run["unbuilt"],
        detail=run.get("error") or [*reasons, *run["unbuilt"]] or cases,
    )


def _keep(out: Path, keep: Path, name: str) -> None:
    keep.mkdir(parents=True, exist_ok=True)
    shutil.make_archive(str(keep / name), "gztar", out)


PARTS = {"workers": workers, "modes": modes, "throughput": throughput}
"""The other parts of the plan, by name."""


def _arguments(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=int, help="of each campaign, instead of the plan's")
    parser.add_argument("--minutes", type=float, help="of this command; then repeat it")
    parser.add_argument("--campaigns", default=",".join(CAMPAIGNS), help=", ".join(CAMPAIGNS))
    parser.add_argument("--libraries", default=",".join(CALLS))
    parser.add_argument("--only", default=",".join(WHAT), help=", ".join(WHAT))
    parser.add_argument("--json", type=Path)
    parser.add_argument("--keep", type=Path)
    given = parser.parse_args(words)
    if given.minutes is not None and given.json is None:
        parser.error("--minutes needs --json, where the next command reads what is done")
    return given


def _planned(libraries: Sequence[str], given: argparse.Namespace) -> list[Step]:
    """Return the steps that are asked for; a second device is compared where there is one."""
    names = [name for name in given.campaigns.split(",") if name != "two" or len(devices()) > 1]
    parts = given.only.split(",")
    return [step for one in libraries for step in steps_of(one, parts, names, given.seconds)]


def _summary(sheet: Sheet, left: Sequence[Step]) -> int:
    """Print what failed and what is left, and return the exit code."""
    lines = sheet.all_lines
    failed = [line for line in lines if not line["passed"]]
    for line in failed:
        sys.stdout.write(f"FAIL  {line['name']}\n")
    sys.stdout.write(f"{len(lines)} lines, {len(failed)} failed\n")
    if left:
        names = ", ".join(step.name for step in left)
        sys.stdout.write(f"Repeat the command for {len(left)} steps more: {names}\n")
        return UNFINISHED
    return 1 if failed else 0


def main(words: Sequence[str] | None = None) -> int:
    """Run the lines that are asked for; exit with 2 if there is no GPU."""
    given = _arguments(words)
    found = devices()
    if not found:
        sys.stderr.write(
            "No NVIDIA GPU: nvidia-smi is missing or reports none. Nothing was tested; run this on "
            "a machine with a GPU and its driver.\n"
        )
        return NO_DEVICE
    sheet = Sheet(given.json)
    surroundings(sheet, found)

    def run(step: Step) -> None:
        if step.campaign:
            campaign(sheet, step, given.keep)
        else:
            PARTS[step.part](sheet, step.library)

    steps = _planned(installed(sheet, given.libraries.split(",")), given)
    left = run_steps(sheet, steps, run, minutes=given.minutes)
    sheet.store()
    return _summary(sheet, left)


if __name__ == "__main__":
    sys.exit(main())
