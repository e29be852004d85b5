"""Static analysis: find the functions of an application that call cognitive services.

`application` parses the files, with `constructors` and `request_reads`. `conditions` splits
conditions into sub-conditions. `values` models the data flow into an expression, `summaries` each
function, and `scope` the function under analysis. `calls`, `expressions` and `statements` analyse
its code. `reachability` adds what functions reach through their callees. `findings` is the result.
"""

from ciguard.levels.app.static_analysis.application import Application, read_application
from ciguard.levels.app.static_analysis.conditions import Branch
from ciguard.levels.app.static_analysis.findings import (
    ServiceCallInputs,
    ServiceCallSite,
    ServiceCondition,
    ServiceFunction,
    find_service_functions,
)
from ciguard.levels.app.static_analysis.values import Answer

__all__ = [
    "Answer",
    "Application",
    "Branch",
    "ServiceCallInputs",
    "ServiceCallSite",
    "ServiceCondition",
    "ServiceFunction",
    "find_service_functions",
    "read_application",
]
