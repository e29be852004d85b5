"""Tests functions with Hypothesis: draws valid calls until some fail, and reports the failures.

Only `function_tests`, `search` and `examples` import Hypothesis, whose import is slow and which
campaigns do not need.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.functions.in_target.calling.caller import ORACLES
from ciguard.functions.searching.results import FunctionTestResult
from ciguard.functions.searching.settings import SearchSettings

if TYPE_CHECKING:
    from ciguard.functions.hosting.collecting import CollectedProgram
    from ciguard.functions.hosting.executing import Execution
    from ciguard.functions.specs.functions import FunctionSpec, MainSpec

__all__ = [
    "ORACLES",
    "FunctionTestResult",
    "SearchSettings",
    "test_function",
    "test_script",
]


def test_function(
    function: FunctionSpec,
    collected: CollectedProgram,
    execution: Execution,
    settings: SearchSettings,
) -> FunctionTestResult:
    """Search for valid calls of a function that fail, and return the result."""
    from ciguard.functions.searching.function_tests import FunctionTest  # noqa: PLC0415

    return FunctionTest(function, collected.module, collected.library, execution, settings).run()


def test_script(
    main: MainSpec, execution: Execution, settings: SearchSettings
) -> FunctionTestResult:
    """Run a program as a script with allowed command lines, and return the result."""
    from ciguard.functions.searching.function_tests import ScriptTest  # noqa: PLC0415

    return ScriptTest(main, execution, settings).run()
