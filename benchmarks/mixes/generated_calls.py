"""The yardstick of generated calls: the calls alone, without anything that ciguard adds to them.

    python generated_calls.py ROOT ADAPTER CASES

Runs in the target's interpreter. Makes each encoded call of CASES (one per line) twice, the first
time to prepare kernels, and prints the number of calls and the CPU seconds of the second calls. The
arguments are built outside of the measured time.
"""

from __future__ import annotations

import contextlib
import json
import sys
import time
from pathlib import Path
from typing import Any

from plain_loop import executor_of


def call_cpu_s(executor: Any, case: list[Any]) -> float | None:
    """Return the CPU seconds of one call; None if its arguments cannot be built."""
    api, kind, arguments, keywords = case[:4]
    builder, adapter = executor._builder, executor._adapter  # noqa: SLF001 - without the rest
    try:
        adapter.reset(case[5])
        positional, named = builder.values(arguments), builder.keywords(keywords)
        owner = positional.pop(0) if kind == "method" else None
        is_method = owner is not None
        function = getattr(owner, api.rpartition(".")[2]) if is_method else builder.member(api)
    except Exception:  # noqa: BLE001 - whatever a library raises while an argument is made
        return None
    began_s = time.process_time()
    with contextlib.suppress(Exception):  # a refusal is a result, too
        function(*positional, **named)
    cpu_s = time.process_time() - began_s
    builder.forget()
    return cpu_s


def main() -> None:
    """Make all calls twice, and print the figures."""
    root, adapter, file = sys.argv[1:4]
    executor = executor_of(root, adapter)
    with Path(file).open(encoding="ascii") as lines:
        cases = [json.loads(line) for line in lines]
    for case in cases:
        call_cpu_s(executor, case)
    spent_s = [cpu_s for case in cases if (cpu_s := call_cpu_s(executor, case)) is not None]
    print(len(spent_s), sum(spent_s))


if __name__ == "__main__":
    main()
