"""Annotated functions: what their annotations say, which calls of them are valid, what calls do.

`describe`, `hints`, `calling`, `child` and what these import run in the target beside the user's
module; the rest reads their JSON, draws calls, and tests functions in a process of their own. Here
live no levels, no reports and no pytest.
"""

from __future__ import annotations

from ciguard.functions.about import About, about_call, about_from_json
from ciguard.functions.arguments import (
    DiscardedError,
    call_sampler,
    call_strategy,
    main_sampler,
    main_strategy,
)
from ciguard.functions.call_source import (
    CallSource,
    import_of_program,
    outer_statements,
    passed_by_name,
    postconditions,
    quoted,
)
from ciguard.functions.calling import ORACLES
from ciguard.functions.calls import MAIN, Call
from ciguard.functions.collecting import Broken, Collected, Hosts, Mark, Skipped, collect
from ciguard.functions.detecting import has_plain_tests, is_annotated, sidecar_of
from ciguard.functions.executing import Execution
from ciguard.functions.exports import Written, export_tests
from ciguard.functions.host import Answered, Died, Host, HostSettings, Overdue
from ciguard.functions.measured import measured_options, merge_measured
from ciguard.functions.programs import Program
from ciguard.functions.settings import SearchSettings
from ciguard.functions.specs import (
    Condition,
    FunctionSpec,
    MainSpec,
    ModuleSpec,
    ParameterSpec,
    Problem,
    module_from_json,
    with_functions,
)
from ciguard.functions.telling import Told
from ciguard.functions.validity import is_valid
from ciguard.functions.verdicts import Discarded, Failure, Frame, Kind, NoInstance, Passed, Verdict

__all__ = [
    "MAIN",
    "ORACLES",
    "About",
    "Answered",
    "Broken",
    "Call",
    "CallSource",
    "Collected",
    "Condition",
    "Died",
    "Discarded",
    "DiscardedError",
    "Execution",
    "Failure",
    "Frame",
    "FunctionSpec",
    "Host",
    "HostSettings",
    "Hosts",
    "Kind",
    "MainSpec",
    "Mark",
    "ModuleSpec",
    "NoInstance",
    "Overdue",
    "ParameterSpec",
    "Passed",
    "Problem",
    "Program",
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
    from ciguard.functions.function_tests import FunctionTest  # noqa: PLC0415

    return FunctionTest(function, collected.module, collected.library, execution, settings).run()


def test_script(main: MainSpec, execution: Execution, settings: SearchSettings) -> Told:
    """Run a program as a script with the command lines that it allows, and say what came of it."""
    from ciguard.functions.function_tests import ScriptTest  # noqa: PLC0415 - as above

    return ScriptTest(main, execution, settings).run()
