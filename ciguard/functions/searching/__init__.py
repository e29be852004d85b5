"""Tests functions with Hypothesis: it draws valid calls, and the failures are returned as text.

Only `function_tests`, `search` and `examples` import Hypothesis, because its import is slow and
campaigns do not need it.
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
    from ciguard.functions.searching.function_tests import (  # noqa: PLC0415 - imports Hypothesis
        FunctionTest,
    )

    return FunctionTest(function, collected.module, collected.library, execution, settings).run()


def test_script(
    main: MainSpec, execution: Execution, settings: SearchSettings
) -> FunctionTestResult:
    """Run a program as a script with valid command lines, and return the result."""
    from ciguard.functions.searching.function_tests import (  # noqa: PLC0415 - imports Hypothesis
        ScriptTest,
    )

    return ScriptTest(main, execution, settings).run()
