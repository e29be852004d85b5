"""Execution of cases in isolated workers, which may crash or hang.

`Dispatcher` runs jobs on the workers of many targets. A target's fork server and workers live in
`worker/` and run inside the target's interpreter.
"""

from ciguard.execution.child_tasks import ScriptResult
from ciguard.execution.confinement import FileAccess
from ciguard.execution.debugger import DebuggerRun, NativeTrace, find_debugger
from ciguard.execution.dispatcher import Dispatcher
from ciguard.execution.host import START_TIMEOUT_S, Host, HostedDefectError
from ciguard.execution.host_process import (
    GRACE_S,
    Answer,
    Answered,
    HostSettings,
    ProcessEnded,
    TimedOut,
)
from ciguard.execution.job import Job, JobResult, Priority
from ciguard.execution.measurement import (
    Measurement,
    Quantity,
    decode_measured,
    growth_request,
    peak_request,
    time_request,
)
from ciguard.execution.outputs import (
    Container,
    Effects,
    Output,
    Scalar,
    TensorDigest,
    TensorOutput,
    Unreadable,
    decode_effects,
    decode_outputs,
)
from ciguard.execution.probing import (
    Probe,
    decode_probes,
    probe_confinement,
    probe_objects,
    probe_target,
)
from ciguard.execution.process import ServerProcess
from ciguard.execution.sanitizer import find_sanitizer, run_sanitizer
from ciguard.execution.spec import Limits, WorkerSpec
from ciguard.execution.stacks import StackLine
from ciguard.execution.worker.planting import PLANTED

__all__ = [
    "GRACE_S",
    "PLANTED",
    "START_TIMEOUT_S",
    "Answer",
    "Answered",
    "Container",
    "DebuggerRun",
    "Dispatcher",
    "Effects",
    "FileAccess",
    "Host",
    "HostSettings",
    "HostedDefectError",
    "Job",
    "JobResult",
    "Limits",
    "Measurement",
    "NativeTrace",
    "Output",
    "Priority",
    "Probe",
    "ProcessEnded",
    "Quantity",
    "Scalar",
    "ScriptResult",
    "ServerProcess",
    "StackLine",
    "TensorDigest",
    "TensorOutput",
    "TimedOut",
    "Unreadable",
    "WorkerSpec",
    "decode_effects",
    "decode_measured",
    "decode_outputs",
    "decode_probes",
    "find_debugger",
    "find_sanitizer",
    "growth_request",
    "peak_request",
    "probe_confinement",
    "probe_objects",
    "probe_target",
    "run_sanitizer",
    "time_request",
]
