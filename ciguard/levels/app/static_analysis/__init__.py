"""Finds the functions of an application that call cognitive services, from its text alone.

`application` reads its files, `conditions` takes branches apart, `values` is what may be known of
an expression, `summaries` what is known of each function, `scope` what is known while one is read;
`calls`, `expressions` and `reading` read it, `reaching` says what functions reach through others,
`findings` is what comes out.
"""

from ciguard.levels.app.static_analysis.application import Application, read_application
from ciguard.levels.app.static_analysis.conditions import Branch
from ciguard.levels.app.static_analysis.findings import (
    ServiceCallInputs,
    ServiceCallSite,
    ServiceCondition,
    ServiceFunction,
    find,
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
    "find",
    "read_application",
]
