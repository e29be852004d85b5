from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciguard.domain.api_calls import ApiCall, CallKind
from ciguard.domain.findings import Finding, PairKind, Severity
from ciguard.domain.outcomes import Passed
from ciguard.domain.values import LiteralValue
from ciguard.execution import Measurement, Quantity
from ciguard.oracles import KINDS
from ciguard.triage import EnvironmentHint, fingerprint, reproduces_measurement, script

OLD, NEW = "planted==1.0", "planted==2.0"
HINT = EnvironmentHint(install=("planted==2.0",))
FUNCTIONS = {
    Quantity.TIME: "labour",
    Quantity.PEAK: "swell",
    Quantity.GROWTH: "hoard",
    Quantity.INSTRUCTIONS: "steady",
}
WITHOUT_VALGRIND = [Quantity.TIME, Quantity.PEAK, Quantity.GROWTH]


def finding(quantity: Quantity, reference: float, other: float) -> Finding:
    api = f"planted.heavy.{FUNCTIONS[quantity]}"
    outcomes = {}
    for name, value in ((OLD, reference), (NEW, other)):
        grows = quantity is Quantity.GROWTH
        values = [1e8 + at * value if grows else value for at in range(12)]
        measured = Measurement(quantity=quantity, values=tuple(values))
        outcomes[name] = Passed(measured.encoded(), 0.0)
    return Finding(
        oracle="performance",
        kind=KINDS[quantity],
        severity=Severity.MEDIUM,
        library="planted",
        api=api,
        case=ApiCall(api=api, kind=CallKind.FUNCTION, arguments=(LiteralValue(2),)),
        outcomes=outcomes,
        targets=(OLD, NEW),
        pair=PairKind.VERSION,
        message=f"{api} takes more",
    )


@pytest.mark.parametrize("quantity", WITHOUT_VALGRIND)
def test_script_measures_the_call_and_shows_the_targets_measurements(
    quantity: Quantity, capsys: pytest.CaptureFixture[str]
) -> None:
    text = script(finding(quantity, 4096.0, 900_000.0), environment_hint=HINT)

    exec(compile(text, "reproducer.py", "exec"), {"__name__": "__main__"})

    assert capsys.readouterr().out.startswith("measured: ")
    assert f"# {OLD}: " in text
    assert f"# {NEW}: " in text
    assert f"planted.heavy.{FUNCTIONS[quantity]}(2)" in text


@pytest.mark.parametrize(
    ("quantity", "log", "alike"),
    [
        (Quantity.TIME, "measured: 310.0 µs (median of 50 calls)", True),
        (Quantity.TIME, "measured: 120.0 µs (median of 50 calls)", False),
        (Quantity.PEAK, "noise\nmeasured: 8.0 MiB more at the worst\n", True),
        (Quantity.PEAK, "measured: 0.1 MiB more at the worst", False),
        (Quantity.GROWTH, "measured: 4.0 KiB more per call", True),
        (Quantity.GROWTH, "measured: -0.2 KiB more per call", False),
        (Quantity.TIME, "it took 310.0 µs", False),
        (Quantity.INSTRUCTIONS, "measured: 64000 instructions per call", True),
        (Quantity.INSTRUCTIONS, "measured: 61000 instructions per call", False),
    ],
)
def test_reproduces_measurement_compares_the_log_with_the_reference(
    quantity: Quantity, log: str, *, alike: bool
) -> None:
    reference = {
        Quantity.TIME: 100e3,
        Quantity.PEAK: 2.0**20,
        Quantity.GROWTH: 0.0,
        Quantity.INSTRUCTIONS: 60e3,
    }[quantity]

    assert reproduces_measurement(finding(quantity, reference, 9 * reference), log) is alike


@given(st.floats(1e5, 1e9), st.floats(1e5, 1e9))
def test_fingerprint_ignores_measured_amounts(reference: float, other: float) -> None:
    first, second = finding(Quantity.TIME, 1e5, 3e5), finding(Quantity.TIME, reference, other)

    assert fingerprint(first) == fingerprint(second)
    assert dict(fingerprint(first).grouping) == {
        "library": "planted",
        "api": "planted.heavy.labour",
        "oracle": "performance",
        "symptom": "slower",
        "pair": "version",
    }


def test_fingerprint_distinguishes_quantities() -> None:
    keys = {fingerprint(finding(quantity, 1.0, 2.0)).key for quantity in Quantity}

    assert len(keys) == len(Quantity)


def test_script_of_a_slow_call_times_it_once_and_exits_with_1() -> None:
    slow = replace(
        finding(Quantity.TIME, 1.0, 2.0),
        oracle="hang",
        kind="slow",
        outcomes={NEW: Passed(b"null", 7.0)},
        targets=(NEW,),
        pair=PairKind.NONE,
    )

    text = script(slow, environment_hint=HINT)

    with pytest.raises(SystemExit, match=r"^SLOW: measured: 0\.\d\d s$"):
        exec(compile(text, "reproducer.py", "exec"), {"__name__": "__main__"})
    assert reproduces_measurement(slow, "SLOW: measured: 6.51 s")
    assert not reproduces_measurement(slow, "SLOW: measured: 0.02 s")
