"""What the packaged action does between the runner of GitHub Actions and ciguard's commands.

Inputs become settings, commands run in processes of their own, results become outputs.
`action.yml` only calls it, through `ciguard action`.
"""

from ciguard.actions.cache_key import CacheKey, cache_key
from ciguard.actions.checkup import (
    Diagnosis,
    Health,
    Workflows,
    examine_baseline,
    examine_confinement,
    examine_hosting,
    examine_machine,
    examine_workflows,
    read_workflows,
    repository_name,
)
from ciguard.actions.children import inert, run_command
from ciguard.actions.commands import annotation
from ciguard.actions.event import PullRequest, WorkflowEvent
from ciguard.actions.failures import StepFailure, keep_failure, kept_failure
from ciguard.actions.inputs import INPUTS, Input, InputError, given_inputs, variable_of
from ciguard.actions.repository import ActionSource, Repository, action_source, look_at
from ciguard.actions.request import Request, Task, read_request, request_of, write_request
from ciguard.actions.results import (
    COUNTED,
    FILES,
    Results,
    explained,
    idle_results,
    not_prepared,
    passed_over,
    results_of,
    without_baseline,
    without_plan,
)
from ciguard.actions.runner_files import append_outputs, append_summary
from ciguard.actions.scaffold_record import RECORD, Record, read_record
from ciguard.actions.scaffolding import (
    CI_SYSTEMS,
    CONFIGURATION,
    Fate,
    Written,
    contents,
    write_all,
)
from ciguard.actions.steps import Steps, scrubbed
from ciguard.actions.upgrading import SIDE, UpgradeConflictError, upgrade

__all__ = [
    "CI_SYSTEMS",
    "CONFIGURATION",
    "COUNTED",
    "FILES",
    "INPUTS",
    "RECORD",
    "SIDE",
    "ActionSource",
    "CacheKey",
    "Diagnosis",
    "Fate",
    "Health",
    "Input",
    "InputError",
    "PullRequest",
    "Record",
    "Repository",
    "Request",
    "Results",
    "StepFailure",
    "Steps",
    "Task",
    "UpgradeConflictError",
    "WorkflowEvent",
    "Workflows",
    "Written",
    "action_source",
    "annotation",
    "append_outputs",
    "append_summary",
    "cache_key",
    "contents",
    "examine_baseline",
    "examine_confinement",
    "examine_hosting",
    "examine_machine",
    "examine_workflows",
    "explained",
    "given_inputs",
    "idle_results",
    "inert",
    "keep_failure",
    "kept_failure",
    "look_at",
    "not_prepared",
    "passed_over",
    "read_record",
    "read_request",
    "read_workflows",
    "repository_name",
    "request_of",
    "results_of",
    "run_command",
    "scrubbed",
    "upgrade",
    "variable_of",
    "without_baseline",
    "without_plan",
    "write_all",
    "write_request",
]
