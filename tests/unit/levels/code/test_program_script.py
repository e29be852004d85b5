"""Scripts of findings about programs."""

from __future__ import annotations

import ast
import contextlib
import io
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from program_examples import FORBIDDEN, STEP, array, cycled, negative, positive, ran

from ciguard.domain.findings import Finding, PairKind, Severity
from ciguard.domain.outcomes import Crashed, Errored, Rejected
from ciguard.domain.programs import Ancestry, ProgramCase
from ciguard.levels.code.program_source import with_preamble
from ciguard.triage import EnvironmentHint, fingerprint, origin_rows, script
from ciguard.triage.reductions import reductions

if TYPE_CHECKING:
    from pathlib import Path

    from ciguard.domain.outcomes import Outcome

HINT = EnvironmentHint(install=("planted==1.0",), module="planted")
OLD, NEW = "planted==1.0", "planted==2.0"
PLAIN = "numbers = [1, 2]\ntotal = float(sum(numbers))\nprint(total)\n"
FAILING = "raise ValueError('no')\n"


def finding(case: ProgramCase, oracle: str, kind: str, *outcomes: Outcome, **rest: Any) -> Finding:
    named = dict(zip((OLD, NEW), outcomes, strict=False))
    settings: dict[str, Any] = {"detail": "stride", "targets": tuple(named), **rest}
    return Finding(
        oracle=oracle,
        kind=kind,
        severity=Severity.MEDIUM,
        library="planted",
        api=case.api,
        case=case,
        outcomes=named,
        message="planted.conv fails",
        **settings,
    )


def pair(kind: str, case: ProgramCase, reference: Outcome, other: Outcome, **rest: Any) -> Finding:
    return finding(case, "differential", kind, reference, other, pair=PairKind.VERSION, **rest)


def run(text: str) -> str:
    """Run a script; return how it ends and what it printed."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            exec(compile(text, "script.py", "exec"), {"__name__": "__main__"})
        except SystemExit as end:
            return f"exit {end.code}"
        except Exception as error:  # noqa: BLE001 - whatever the program raises is its end
            return f"raises {type(error).__name__}"
    return f"ends, {printed.getvalue().splitlines()[-1]}"


def test_a_program_that_fails_is_its_own_script() -> None:
    failed = Rejected("ValueError", "line 1: no")
    case = positive(source=FAILING)
    text = script(finding(case, "derivation", "positive-failed", failed), environment_hint=HINT)

    assert text.endswith(f"\n\n{FAILING}")
    assert "# planted.conv" not in text.splitlines()[0]
    assert "a program fails whose last block runs alone." in text
    assert "# Changed: stride of torch.nn.Conv2d: 1 → 3" in text
    assert "# Block: conv2, line 5 of the program" in text
    assert "pip install planted==1.0" in text
    assert run(text) == "raises ValueError"


def test_a_forbidden_argument_is_shown_by_the_block_alone() -> None:
    case = negative(source=FAILING, block=PLAIN)
    text = script(finding(case, "derivation", "accepted-illegal", ran()), environment_hint=HINT)

    assert FAILING not in text
    assert "# The program below runs the block alone." in text
    assert run(text) == (
        "exit ACCEPTED: the library accepts an argument that its documentation forbids (stride)"
    )


def test_an_error_of_the_block_is_shown_by_the_block_alone() -> None:
    failed = Errored("RuntimeError", "block alone, line 1: INTERNAL ASSERT FAILED")
    case = positive(source=PLAIN, block=FAILING)
    text = script(finding(case, "internal-error", "RuntimeError", failed), environment_hint=HINT)

    assert run(text) == "raises ValueError"


@pytest.mark.parametrize(
    ("name", "form", "end"),
    [
        ("total", ["f", "3.0"], "ends, No difference."),
        (
            "total",
            ["i", "3"],
            "exit DIFFERENT: total is ('float', None) instead of ('int', None)",
        ),
        (
            "total",
            array(2),
            "exit DIFFERENT: total is ('float', None) instead of ('float32', (2,))",
        ),
        ("absent", ["f", "3"], "exit DIFFERENT: absent is ('NoneType', None) instead of "),
    ],
)
def test_the_script_checks_a_difference_of_forms(name: str, form: Any, end: str) -> None:
    case = positive(source=PLAIN)
    shown = pair("structure", case, ran(**{name: form}), ran(other=array(1)), detail=name)

    assert run(script(shown, environment_hint=HINT)).startswith(end)


def test_the_script_of_a_rejected_program_raises_by_itself() -> None:
    refused = Rejected("ValueError", "line 1: no")
    text = script(pair("refused", positive(source=FAILING), ran(), refused), environment_hint=HINT)
    gone = script(pair("refused", positive(source=PLAIN), ran(), refused), environment_hint=HINT)

    assert run(text) == "raises ValueError"
    assert run(gone) == f"ends, No difference: runs to its end, as on {OLD}"


def test_the_script_of_an_accepted_program_names_the_rejecting_target() -> None:
    refused = Rejected("ValueError", "line 1: no")
    text = script(pair("accepted", positive(source=PLAIN), refused, ran()), environment_hint=HINT)

    assert run(text) == f"exit DIFFERENT: runs to its end; {OLD} raised ValueError: line 1: no"


@pytest.mark.parametrize(
    ("source", "end"),
    [
        ("import sys\nsys.__dict__.setdefault('kept', []).append(bytearray(2**21))\n", "GROWS"),
        ("kept = bytearray(2**21)\n", "It does not grow."),
    ],
)
def test_the_script_of_growth_runs_many_cycles(source: str, end: str, tmp_path: Path) -> None:
    case = positive(source=source, block="", cycles=15)
    text = script(finding(case, "growth", "memory-grows", cycled([1.0])), environment_hint=HINT)
    path = tmp_path / "script.py"
    # A process of its own: what this one has freed would be used again.
    path.write_text(text, "utf-8")

    done = subprocess.run(
        [sys.executable, str(path)], capture_output=True, text=True, timeout=100, check=False
    )

    assert end in done.stdout + done.stderr


@given(st.text())
def test_any_program_can_be_repeated(source: str) -> None:
    case = positive(source=source, block="", cycles=9)
    text = script(finding(case, "growth", "slows-down", cycled([1.0])), environment_hint=HINT)

    (assigned,) = [
        statement.value
        for statement in ast.parse(text).body
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "PROGRAM"
    ]
    assert ast.literal_eval(assigned) == source


@given(st.text(), st.text())
def test_no_text_escapes_the_header_comment(value: str, name: str) -> None:
    step = replace(STEP, after=value, block=name, sentence=value, adapter=name)
    case = replace(positive(step, source=PLAIN), ancestry=Ancestry(seed=name, path=(step,)))
    shown = replace(finding(case, "crash", "signal", Crashed("SIGSEGV")), message=value)
    text = script(shown, environment_hint=HINT)

    assert ast.unparse(ast.parse(text)) == ast.unparse(ast.parse(PLAIN))


def test_variables_are_set_before_the_first_import() -> None:
    source = '"""Trains."""\n\nfrom __future__ import annotations\n\nimport json\n'

    assert with_preamble(source, ["import os"]) == (
        '"""Trains."""\n\nfrom __future__ import annotations\nimport os\n\n\nimport json\n'
    )
    assert with_preamble(source, []) == source
    assert with_preamble("no program", ["import os"]) == "no program"


def test_the_block_alone_is_simpler_than_the_program() -> None:
    case = positive()
    (simplest, *_) = reductions(case)

    assert simplest == replace(case, source=case.block, block="")


def test_less_training_is_simpler() -> None:
    source = "EPOCHS = 4\nname = 'ä'; SAMPLES = 100\nwidth = 30\nSTEPS: int = 9\n"
    sources = {reduced.source for reduced in reductions(positive(source=source, block=""))}  # type: ignore[attr-defined]

    assert sources == {
        source.replace("4", "1"),
        source.replace("4", "2"),
        source.replace("100", "1"),
        source.replace("100", "50"),
    }


@pytest.mark.parametrize("odd", ["\f", "\v", "\u2028", "\x1c", "\x85", "\r", "\r\n"])
def test_lines_are_counted_as_python_counts_them(odd: str) -> None:
    source = f"'''{odd}{'é' * 9}'''\nSAMPLES =9\n"
    sources = {reduced.source for reduced in reductions(positive(source=source, block=""))}  # type: ignore[attr-defined]
    before = with_preamble(source, ["x = 1"])

    assert source.replace("=9", "=4") in sources
    assert source.replace("=9", "=1") in sources
    assert before == source.replace("SAMPLES", "x = 1\n\nSAMPLES")


def test_reductions_of_a_foreign_program_are_limited() -> None:
    many = "".join(f"A{number}_EPOCHS = 100\n" for number in range(300))

    assert 0 < len(reductions(positive(source=many, block=""))) <= 16
    assert reductions(positive(source=f"EPOCHS = 0x{'f' * 9000}\n", block="")) == []


def test_one_defect_on_other_lines_has_one_fingerprint() -> None:
    def of(message: str, case: ProgramCase) -> str:
        failed = Rejected("RuntimeError", message)
        return fingerprint(finding(case, "derivation", "positive-failed", failed)).key

    first = of("line 8: no primitive", positive())
    moved = of("line 31: no primitive", positive(replace(STEP, after="2", line=30), source=PLAIN))

    assert first == moved
    assert first != of("line 8: no kernel", positive())


def test_texts_of_mutations_are_known_content_of_messages() -> None:
    def of(mode: str) -> str:
        step = replace(STEP, after=repr(mode))
        failed = Rejected("ValueError", f"line 8: mode {mode!r} is odd")
        return fingerprint(finding(positive(step), "derivation", "x", failed)).key

    assert of("circular") == of("replicate")


def test_the_origin_of_a_program_is_its_path() -> None:
    rows = dict(origin_rows(negative(), lambda name: f"<{name}>"))

    assert rows == {
        "Block": "<drop>, line 5 of the program",
        "Changed": "<p of torch.nn.Dropout: 0.5 → 1.5>",
        "Found in": "a mutant of <lenet> (AR <act>: <torch.nn.ReLU → torch.nn.GELU>)",
    }


def test_the_origin_of_a_seed_has_no_change() -> None:
    case = ProgramCase(api="torch", source=PLAIN, ancestry=Ancestry(seed="lenet"))

    assert origin_rows(case) == [("Found in", "lenet")]
    assert origin_rows(replace(case, ancestry=Ancestry(seed=""))) == []
    assert FORBIDDEN.change.startswith("p of")
