"""The packaged action: the layer between the runner of GitHub Actions and ciguard's commands.

It turns inputs into settings, runs commands in processes of their own, and turns results into
outputs. `action.yml` calls it through `ciguard action`.
"""

from ciguard.actions.cache_key import cache_key
from ciguard.actions.children import without_commands
from ciguard.actions.commands import annotation
from ciguard.actions.failures import store_failure, stored_failure
from ciguard.actions.inputs import InputError
from ciguard.actions.repository import ActionSource, action_source, detect_repository
from ciguard.actions.request import (
    ActionRequest,
    ActionTask,
    read_request,
    request_of,
    write_request,
)
from ciguard.actions.results import (
    FILES,
    Results,
    idle_results,
    not_prepared,
    nothing_to_file,
    results_of,
    with_failure,
    without_baseline,
    without_plan,
)
from ciguard.actions.runner_files import append_outputs, append_summary
from ciguard.actions.scaffold_record import RECORD, ScaffoldRecord, read_record
from ciguard.actions.scaffolding import CI_SYSTEMS, CONFIGURATION, render_files, write_all
from ciguard.actions.steps import Steps
from ciguard.actions.upgrading import upgrade

__all__ = [
    "CI_SYSTEMS",
    "CONFIGURATION",
    "FILES",
    "RECORD",
    "ActionRequest",
    "ActionSource",
    "ActionTask",
    "InputError",
    "Results",
    "ScaffoldRecord",
    "Steps",
    "action_source",
    "annotation",
    "append_outputs",
    "append_summary",
    "cache_key",
    "detect_repository",
    "idle_results",
    "not_prepared",
    "nothing_to_file",
    "read_record",
    "read_request",
    "render_files",
    "request_of",
    "results_of",
    "store_failure",
    "stored_failure",
    "upgrade",
    "with_failure",
    "without_baseline",
    "without_commands",
    "without_plan",
    "write_all",
    "write_request",
]
