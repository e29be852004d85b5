"""Tests of functions under Hypothesis: valid calls are drawn until some fail, and then reported.

Only `function_tests`, `search` and `examples` import Hypothesis, which takes long: campaigns never
need it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.functions.in_target.calling.caller import ORACLES
from ciguard.functions.searching.settings import SearchSettings
from ciguard.functions.searching.telling import Told

if TYPE_CHECKING:
    from ciguard.functions.hosting.collecting import Collected
    from ciguard.functions.hosting.executing import Execution
    from ciguard.functions.specs.functions import FunctionSpec, MainSpec

__all__ = [
    "ORACLES",
    "SearchSettings",
    "Told",
    "test_function",
    "test_script",
]


def test_function(
    function: FunctionSpec, collected: Collected, execution: Execution, settings: SearchSettings
) -> Told:
    """Search for valid calls of a function that fail, and return what came of it."""
    from ciguard.functions.searching.function_tests import FunctionTest  # noqa: PLC0415

    return FunctionTest(function, collected.module, collected.library, execution, settings).run()


def test_script(main: MainSpec, execution: Execution, settings: SearchSettings) -> Told:
    """Run a program as a script with command lines that it allows, and return what came of it."""
    from ciguard.functions.searching.function_tests import ScriptTest  # noqa: PLC0415

    return ScriptTest(main, execution, settings).run()
