"""HTML page about the assessment of an application's functions, with the failing inputs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ciguard.domain.text import visible, visible_lines
from ciguard.errors import ConfigurationError
from ciguard.files import replace_file
from ciguard.levels.app.reports.accuracy import input_summary, severity_of, untested_notes
from ciguard.levels.app.reports.wording import counted
from ciguard.reports.html import ShownInputs, file_markup, style_hash, template_named

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ciguard.levels.app.accuracy import Assessment, ConditionVerdict, Robustness

_TEMPLATES = Path(__file__).parent
_POLICY = "default-src 'none'; style-src {style}; img-src data:; media-src data:"


def write_accuracy_page(results: Sequence[Assessment], file: Path) -> None:
    """Write the page, a self-contained HTML file.

    Args:
        results: the assessments of all functions.
        file: the file to write.

    Raises:
        ConfigurationError: if the file cannot be written.
    """
    template = template_named("accuracy.html.j2", _TEMPLATES)
    failed = _failed(results)
    crashes = [crash for result in results for crash in result.crashes]
    fragile = [
        result.robustness
        for result in results
        if result.robustness and not result.robustness.is_clean
    ]
    tones = [_tone(verdict) for verdict in failed] + ["failed"] * (len(crashes) + len(fragile))
    tone = "bad" if "failed" in tones else "doubt" if tones else "good"
    shown = ShownInputs()
    style = (
        file_markup("page.css")
        + file_markup("inputs.css")
        + file_markup("accuracy.css", _TEMPLATES)
    )
    page = template.render(
        policy=_POLICY.format(style=style_hash(style)),
        style=style,
        tone=tone,
        summary="FAILURES" if tones else "FINE",
        title=_title(results),
        functions=[_function_context(result, shown) for result in results],
    )
    try:
        replace_file(file, page)
    except OSError as error:
        msg = f"{file} cannot be written: {error.strerror}. Choose another file with --report."
        raise ConfigurationError(msg) from error


def _failed(results: Sequence[Assessment]) -> list[ConditionVerdict]:
    return [verdict for result in results for verdict in result.verdicts if verdict.is_failure]


def _title(results: Sequence[Assessment]) -> str:
    judged = sum(len(result.verdicts) for result in results)
    crashes = counted(sum(len(result.crashes) for result in results), "crash")
    fail = f"{len(_failed(results))} of {judged} sub-conditions fail, {crashes}"
    faulty = [result.robustness for result in results if result.robustness]
    exceptions = sum(len(robustness.uncaught) for robustness in faulty)
    return f"{fail}; {counted(exceptions, 'exception')} with injected faults" if faulty else fail


def _function_context(assessment: Assessment, shown: ShownInputs) -> dict[str, Any]:
    function = assessment.explored.function
    crashes = [
        {
            "title": visible(f"line {crash.line}: {crash.error}"),
            "inputs": list(shown.of([sample.shown()])),
        }
        for crash, sample in assessment.crashes
    ]
    summary = assessment.problem or input_summary(assessment)
    return {
        "name": visible(function.name),
        "place": visible(f"{function.file}:{function.line}"),
        "summary": visible(summary),
        "notes": [visible(note) for note in untested_notes(assessment)],
        "crashes": crashes,
        "robustness": _robustness_context(assessment.robustness, shown)
        if assessment.robustness
        else None,
        "verdicts": [_verdict_context(verdict, shown) for verdict in assessment.verdicts],
    }


def _robustness_context(robustness: Robustness, shown: ShownInputs) -> dict[str, Any]:
    """Return the results of calls with injected faults, as variables of the template."""
    calls = robustness.calls
    raised = [
        {
            "tone": "failed" if uncaught.crash.is_judged else "doubted",
            "word": "error" if uncaught.crash.is_judged else "warning",
            "title": visible(f"line {uncaught.crash.line}: {uncaught.crash.error}"),
            "share": f"{uncaught.calls} of {counted(calls, 'call')}",
            "inputs": list(shown.of([uncaught.input.shown()])),
        }
        for uncaught in robustness.uncaught.values()
    ]
    endless = [
        f"{count} of {counted(calls, 'call')}: {visible(behaviour)}"
        for behaviour, count in robustness.hangs.items()
    ]
    fine = f"No uncaught exception in {counted(calls, 'call')} with injected faults."
    return {"raised": raised, "endless": endless, "fine": "" if raised or endless else fine}


def _tone(verdict: ConditionVerdict) -> str:
    if not verdict.is_failure:
        return "fine"
    return "failed" if verdict.is_of_service else "doubted"


def _verdict_context(verdict: ConditionVerdict, shown: ShownInputs) -> dict[str, Any]:
    suggestion = verdict.suggestion
    place = "" if verdict.is_of_service else ", a local engine"
    missed = verdict.missed_inputs if verdict.is_failure else ()
    shown_inputs = list(shown.of([sample.shown() for sample in missed]))
    return {
        "line": verdict.goal.line,
        "text": visible(verdict.goal.text),
        "tone": _tone(verdict),
        "word": severity_of(verdict),
        "claim": verdict.claim,
        "engine": visible(verdict.engine + place),
        "recognised": visible(", ".join(verdict.recognised)) if verdict.is_failure else "",
        "suggestion": visible(suggestion.sentence, limit=1000) if suggestion else "",
        "patch": list(_patch_lines(suggestion.patch)) if suggestion and suggestion.patch else [],
        "inputs": shown_inputs,
        "missed": _missed_heading(verdict, len(shown_inputs)),
    }


def _missed_heading(verdict: ConditionVerdict, shown: int) -> str:
    """Return the heading above the shown inputs that the sub-condition missed.

    Args:
        verdict: the verdict on the sub-condition.
        shown: the number of shown inputs.
    """
    first = f", the first {shown} of them" if shown < len(verdict.missed_inputs) else ""
    if verdict.low_recall is not None:
        texts = counted(len(verdict.missed_inputs), f"{verdict.low_recall.polarity} text")
        return f"{texts} that take no branch for them{first}"
    if verdict.true_shares is None:
        return f"{counted(len(verdict.missed_inputs), 'input')} that do not make it true{first}"
    sentiments = " and ".join({sample.wanted.feeling or "" for sample in verdict.missed_inputs})
    return f"{counted(len(verdict.missed_inputs), f'{sentiments} text')} that make it true{first}"


def _patch_lines(patch: str) -> Iterator[tuple[str, str]]:
    """Yield (CSS class, line) for each line of a patch."""
    for line in visible_lines(patch).rstrip("\n").split("\n"):
        if line.startswith(("---", "+++", "@@")):
            yield "place", line
        else:
            yield {"+": "added", "-": "removed"}.get(line[:1], "same"), line
