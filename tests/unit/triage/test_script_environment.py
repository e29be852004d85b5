"""Environment variables of scripts: which GPU they see, and when its errors surface."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace

import pytest
from campaign_examples import ONE, crash
from finding_examples import call, pair
from hypothesis import given
from hypothesis import strategies as st
from outcome_examples import passed

from ciguard.domain.findings import PairKind
from ciguard.domain.outcomes import Crashed, Outcome, Rejected
from ciguard.domain.values import Constant, TensorValue
from ciguard.targets import parse_target
from ciguard.targets.drivers import visible_device
from ciguard.triage import EnvironmentHint, script
from ciguard.triage.scripting import environment_statements

SECOND = EnvironmentHint(install=("torch==2.13.0",), device="cuda:0", gpu=1)
ILLEGAL = Crashed.from_device_error("illegal memory access", (), "")
ENTRIES = st.one_of(
    st.integers(0, 99).map(str), st.uuids().map("GPU-{}".format), st.uuids().map("MIG-{}".format)
)


def variables_after(hint: EnvironmentHint, **present: str) -> dict[str, str]:
    environ = dict(present)
    names = {"os": SimpleNamespace(environ=environ)}
    exec("\n".join(environment_statements(crash(), hint)), names)
    return environ


@given(st.integers(1, 999), st.none() | st.lists(ENTRIES, min_size=1, max_size=9))
def test_script_sees_the_gpu_of_its_finding(number: int, visible: list[str] | None) -> None:
    target = parse_target(f"torch==2.13.0@cuda:{number}")
    shell = {} if visible is None else {"CUDA_VISIBLE_DEVICES": ",".join(visible)}
    hint = replace(SECOND, gpu=number)

    variables = variables_after(hint, **shell)

    # A shell with fewer GPUs chooses one itself.
    is_offered = visible is None or number < len(visible)
    expected = visible_device(target, shell) if is_offered else (visible or [])[-1]
    assert variables["CUDA_VISIBLE_DEVICES"] == expected
    assert variables["CUDA_DEVICE_ORDER"] == "PCI_BUS_ID"
    assert variables_after(hint, **variables) == variables  # as in a worker, which sees one GPU


def test_script_for_the_first_gpu_leaves_the_choice_to_the_shell() -> None:
    assert environment_statements(crash(), replace(SECOND, gpu=0)) == []


def test_script_for_another_gpu_chooses_it_before_the_library_is_imported() -> None:
    text = script(crash(), environment_hint=replace(SECOND, module="planted"))
    before, _, _ = text.partition("import planted")

    printing = "import json\nprint(json.dumps(dict(os.environ)))\n"
    shown = subprocess.run(
        [sys.executable, "-c", before + printing],
        env={"CUDA_VISIBLE_DEVICES": "3,5"},
        capture_output=True,
        check=True,
    )

    assert json.loads(shown.stdout)["CUDA_VISIBLE_DEVICES"] == "5"


@pytest.mark.parametrize(
    ("outcome", "is_blocking"),
    [
        (ILLEGAL, True),
        (Crashed("SIGSEGV"), False),
        (Rejected("RuntimeError", "CUDA error: device-side assert triggered"), False),
    ],
)
def test_script_of_a_lost_device_waits_for_each_kernel(
    outcome: Outcome, *, is_blocking: bool
) -> None:
    lost = replace(crash(), targets=(ONE,), outcomes={ONE: outcome})

    text = script(lost, environment_hint=SECOND)

    assert ("os.environ['CUDA_LAUNCH_BLOCKING'] = '1'" in text) == is_blocking
    assert ("compute-sanitizer" in text) == is_blocking


def test_script_of_mode_tf32_calls_directly_and_compares_with_its_tolerance() -> None:
    targets = ("torch==2.13.0@cuda", "torch==2.13.0@cuda tf32")
    results = passed(1.0, 2.0), passed(1.0, 3.0)
    tested = call(TensorValue("float32", (2,), Constant(1.0)), api="torch.neg")
    between = pair(*results, case=tested)
    outcomes = dict(zip(targets, results, strict=True))
    coarse = replace(between, targets=targets, outcomes=outcomes, pair=PairKind.MODE)
    hint = EnvironmentHint(install=("torch==2.13.0",), device="cuda:0", mode="tf32")

    text = script(coarse, environment_hint=hint)

    assert "result = torch.neg(" in text
    assert "0.0312" in text  # 16 rounding errors of the largest element, 2.0
    assert "0.0312" not in script(between, environment_hint=replace(hint, mode="eager"))
