"""Scripts of findings under the memory guard, which bring the guard along."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from finding_examples import call, crash

from ciguard.targets import GUARDED
from ciguard.triage import EnvironmentHint, script

if TYPE_CHECKING:
    from ciguard.domain.findings import Finding

HINT = EnvironmentHint(install=("torch==2.13.0",), mode=GUARDED)


def found(*, seed: int = 0) -> Finding:
    log = "memory guard: out-of-bounds read: 8 bytes behind argument 1 (float32[2]), 8 bytes"
    finding = crash(log, cause="out-of-bounds read", case=call(seed=seed))
    return replace(finding, oracle="memory", kind="out-of-bounds-read", detail="input")


def test_the_script_compiles_the_guard_before_the_library_is_imported() -> None:
    text = script(found(), environment_hint=HINT)

    ast.parse(text)
    assert text.startswith("# torch.fold: the call reads out of bounds (input).")
    restart = text.index("os.execv(sys.executable")
    assert text.index("int posix_memalign(") < restart < text.index("import torch")
    assert text.index("guard.guard_begin(0)") < text.index("result = torch.fold(")
    assert text.index("result = torch.fold(") < text.index("guard.guard_end()")


def test_the_seed_decides_the_side_as_in_the_worker() -> None:
    assert "guard.guard_begin(1)" in script(found(seed=7), environment_hint=HINT)
    assert "guard.guard_begin(0)" in script(found(seed=8), environment_hint=HINT)


def test_scripts_of_other_targets_have_no_guard() -> None:
    assert "guard" not in script(crash(), environment_hint=replace(HINT, mode="eager"))
