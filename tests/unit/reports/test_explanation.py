"""What ciguard knows about an API, as text for a terminal or a pipe."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import TYPE_CHECKING

from ciguard.domain.api_calls import CallKind
from ciguard.domain.documentation import DocumentationCheck, DocumentationFinding
from ciguard.domain.records import ApiRecord, ParameterKind, ParameterRecord, Skipped
from ciguard.knowledge import (
    Provenance,
    constraint_lines,
    known_apis,
    read_constraints,
    understand,
)
from ciguard.knowledge.references import digest_of
from ciguard.reports import extraction_lines, write_explanation

if TYPE_CHECKING:
    import pytest

CONV = ApiRecord(
    api="lib.conv",
    kind=CallKind.FUNCTION,
    operator="op::conv",
    aliases=("lib.nn.conv",),
    doc="Applies it.",
    source="signature",
    tags=frozenset({"random"}),
    parameters=(
        ParameterRecord(name="input", annotation="Tensor", doc="A 4-D tensor [b]of[/b] \x1b[2J"),
        ParameterRecord(name="stride", required=False, default="1", schema_type="int[2]"),
        ParameterRecord(name="hook", annotation="Callable", kind=ParameterKind.KEYWORD_ONLY),
        ParameterRecord(name="more", kind=ParameterKind.VAR_KEYWORD, required=False),
    ),
)  # fmt: skip
LAYER = ApiRecord(
    api="lib.Linear",
    kind=CallKind.LAYER,
    source="signature",
    parameters=(ParameterRecord(name="in_features", annotation="int"),),
    inputs=(ParameterRecord(name="x", annotation="Tensor"),),
)
NOTHING = ApiRecord(api="lib.seed", kind=CallKind.FUNCTION, parameters=())


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def plain(record: ApiRecord) -> str:
    stream = io.StringIO()
    write_explanation(stream, understand(record), origin="lib 1.0")
    return stream.getvalue()


def test_a_pipe_gets_plain_lines_that_can_be_searched() -> None:
    text = plain(CONV)

    assert text.startswith(
        "lib.conv   function · op::conv · lib 1.0\nalso lib.nn.conv\nApplies it.\ntags: random\n"
    )
    assert "\x1b" not in text
    assert not any(line.endswith(" ") for line in text.splitlines())


def test_explanation_shows_requirement_constraint_and_evidence_of_each_parameter() -> None:
    lines = plain(CONV).splitlines()

    assert "input  required" in lines
    place = lines.index("stride  optional, default 1")
    assert lines[place + 1] == "    list of 2 ints from 1 to 4; or int from 1 to 4"
    assert lines[place + 2].split() == ["structures", "schema", "“int[2]”"]
    assert "hook  required, keyword-only" in lines
    assert "    never passed: ciguard cannot generate a value for it" in lines
    assert "**more  optional" in lines


def test_explanation_names_the_rule_that_matched_a_phrase() -> None:
    (line,) = [line for line in plain(CONV).splitlines() if "doc phrase" in line]

    assert line.split()[:2] == ["shape", "doc"]
    assert "“4-D”  by rule " in line


def test_documentation_text_that_is_not_stored_is_shown_by_its_digest() -> None:
    lines = list(constraint_lines(known_apis([CONV], (), Provenance(library="lib", version="1.0"))))
    stream = io.StringIO()

    write_explanation(
        stream, read_constraints(lines, name="file").api("lib.conv"), origin="lib 1.0"
    )

    (line,) = [line for line in stream.getvalue().splitlines() if "doc phrase" in line]
    assert f"text {digest_of('4-D')}  by rule " in line
    assert "Applies it." not in stream.getvalue()
    assert stream.getvalue().endswith("--target shows it\n")
    assert "--target" not in plain(CONV)


def test_library_text_contains_no_terminal_escapes() -> None:
    hostile = replace(CONV, doc="[red]x[/red] \x1b[31m \u202e")

    assert "[red]x[/red] \\x1b[31m \\u202e" in plain(hostile)


def test_a_terminal_gets_colour_and_wrapped_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    stream = _Terminal()

    write_explanation(stream, understand(CONV), origin="lib 1.0")

    assert "\x1b[1;36minput" in stream.getvalue()


def test_explanation_shows_parameters_of_calls_of_the_constructed_object() -> None:
    text = plain(LAYER)

    assert (
        "parameters of calls of the constructed object\n\nx  required\n    tensor of float32"
        in text
    )


def test_an_api_without_parameters_is_called_without_arguments() -> None:
    assert "no known parameters: it is called without arguments" in plain(NOTHING)


# --- extraction -----------------------------------------------------------------------------------


def test_extraction_reports_known_constraints_and_skipped_apis() -> None:
    origin = Provenance(library="lib", version="1.0")
    lost = [
        Skipped(name=f"lib.part{number}", reason="ImportError: \x1b[2J") for number in range(22)
    ]
    finding = DocumentationFinding(
        check=DocumentationCheck.UNDECLARED,
        library="lib",
        api="lib.conv",
        parameter="y",
        message="describes 'y', which is not a parameter",
        evidence="y",
    )

    lines = list(extraction_lines(known_apis([CONV, LAYER, NOTHING], lost, origin), [finding]))

    assert lines[0] == "lib 1.0"
    assert lines[1].startswith("  3 APIs, 5 parameters, ")
    assert "2 of 2 APIs that take arguments (100.0%)" in lines[2]
    assert lines[3].startswith("  by source: ")
    assert lines[4] == "  APIs without a signature, called without arguments (1): lib.seed"
    assert lines[5] == "  skipped: lib.part0: ImportError: \\x1b[2J"
    assert lines[-2:] == ["  skipped: 2 more", "  documentation: 1 stranger"]


def test_extraction_of_a_library_without_apis_succeeds() -> None:
    lines = list(extraction_lines(known_apis([], [], Provenance(library="lib", version="1")), []))

    assert lines[1] == "  0 APIs, 0 parameters, 0 constraints"
