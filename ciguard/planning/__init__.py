"""Plans the tests of a change: from a checkout to the jobs of a matrix.

`make_plan` inspects the repository with git and reads its sources without running them. `matrix`,
`explanation` and `commands` format the plan for workflows and users. Nothing here prints.
"""

from ciguard.planning.annotated import annotated_files
from ciguard.planning.explanation import commands, explanation, run_arguments
from ciguard.planning.levels import PlannedLevel
from ciguard.planning.make import PlanRequest, make_plan
from ciguard.planning.required import required_targets_in
from ciguard.planning.rows import Runners, matrix
from ciguard.planning.wheels import Wheels

__all__ = [
    "PlanRequest",
    "PlannedLevel",
    "Runners",
    "Wheels",
    "annotated_files",
    "commands",
    "explanation",
    "make_plan",
    "matrix",
    "required_targets_in",
    "run_arguments",
]
