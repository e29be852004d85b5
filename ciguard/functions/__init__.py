"""Annotated functions: what their annotations say, which calls of them are valid, what calls do.

`in_target` runs beside the user's module; what both sides must name alike, the others import from
it. These import one from the other in this order: `specs` are annotations as data, `solving` says
what they leave for one argument, `drawing` draws whole calls, `checking` tells what is wrong before
anything runs, `hosting` runs calls in a process of their own, `writing` writes calls and tests as
source text, `searching` looks for calls that fail. Here live no levels, no reports and no pytest.
"""

from __future__ import annotations

from ciguard.functions.checking.about import About, about_call, about_from_json
from ciguard.functions.checking.annotations import module_from_json, with_functions
from ciguard.functions.checking.validity import is_valid
from ciguard.functions.drawing.calls import (
    DiscardedError,
    call_sampler,
    call_strategy,
    main_sampler,
    main_strategy,
)
from ciguard.functions.hosting.collecting import Broken, Collected, Hosts, Mark, Skipped, collect
from ciguard.functions.hosting.executing import Execution
from ciguard.functions.hosting.host import ProgramHost, ProgramSettings
from ciguard.functions.hosting.measured import measured_options, merge_measured
from ciguard.functions.hosting.verdicts import (
    Discarded,
    Failure,
    Kind,
    NoInstance,
    Passed,
    Verdict,
)
from ciguard.functions.in_target.calling.caller import ORACLES
from ciguard.functions.searching.settings import SearchSettings
from ciguard.functions.searching.telling import Told
from ciguard.functions.specs.calls import MAIN, Call
from ciguard.functions.specs.functions import (
    Condition,
    FunctionSpec,
    MainSpec,
    ModuleSpec,
    ParameterSpec,
    Problem,
)
from ciguard.functions.specs.programs import Program, has_plain_tests, is_annotated, sidecar_of
from ciguard.functions.writing.call_source import CallSource, quoted
from ciguard.functions.writing.files import Written, export_tests
from ciguard.functions.writing.scripts import (
    import_of_program,
    outer_statements,
    passed_by_name,
    postconditions,
)

__all__ = [
    "MAIN",
    "ORACLES",
    "About",
    "Broken",
    "Call",
    "CallSource",
    "Collected",
    "Condition",
    "Discarded",
    "DiscardedError",
    "Execution",
    "Failure",
    "FunctionSpec",
    "Hosts",
    "Kind",
    "MainSpec",
    "Mark",
    "ModuleSpec",
    "NoInstance",
    "ParameterSpec",
    "Passed",
    "Problem",
    "Program",
    "ProgramHost",
    "ProgramSettings",
    "SearchSettings",
    "Skipped",
    "Told",
    "Verdict",
    "Written",
    "about_call",
    "about_from_json",
    "call_sampler",
    "call_strategy",
    "collect",
    "export_tests",
    "has_plain_tests",
    "import_of_program",
    "is_annotated",
    "is_valid",
    "main_sampler",
    "main_strategy",
    "measured_options",
    "merge_measured",
    "module_from_json",
    "outer_statements",
    "passed_by_name",
    "postconditions",
    "quoted",
    "sidecar_of",
    "test_function",
    "test_script",
    "with_functions",
]


def test_function(
    function: FunctionSpec, collected: Collected, execution: Execution, settings: SearchSettings
) -> Told:
    """Search for valid calls of a function that fail, and say what came of it."""
    # Hypothesis takes longer to import than the rest of ciguard; campaigns never need it.
    from ciguard.functions.searching.function_tests import FunctionTest  # noqa: PLC0415

    return FunctionTest(function, collected.module, collected.library, execution, settings).run()


def test_script(main: MainSpec, execution: Execution, settings: SearchSettings) -> Told:
    """Run a program as a script with the command lines that it allows, and say what came of it."""
    from ciguard.functions.searching.function_tests import ScriptTest  # noqa: PLC0415 - as above

    return ScriptTest(main, execution, settings).run()
