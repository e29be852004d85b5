"""Static analysis: find the functions of an application that call cognitive services.

`application` parses the files; `conditions` splits branches into sub-conditions. `values` models
the data flow into an expression, `summaries` each function, `scope` the function under analysis.
`calls`, `expressions` and `reading` analyse its calls, expressions and statements. `reaching` adds
what functions reach through their callees. `findings` is the result.
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
