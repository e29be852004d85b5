"""Execution of cases in isolated workers, which may crash or hang.

`Dispatcher` runs jobs on the workers of many targets. A target's fork server and workers live in
`worker/` and run inside the target's interpreter.
"""

from ciguard.execution.child_tasks import ScriptResult
from ciguard.execution.debugger import NativeTrace, find_debugger, trace
from ciguard.execution.dispatcher import Dispatcher
from ciguard.execution.holding import Held
from ciguard.execution.host import START_S, Host
from ciguard.execution.host_process import (
    GRACE_S,
    Answer,
    Answered,
    HostSettings,
    ProcessEnded,
    TimedOut,
)
from ciguard.execution.job import Job, JobResult
from ciguard.execution.measurement import (
    Measured,
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
    bait,
    probe_confinement,
    probe_target,
    probes_from,
)
from ciguard.execution.process import ServerProcess
from ciguard.execution.sanitizer import find_sanitizer, sanitized
from ciguard.execution.spec import Limits, WorkerSpec
from ciguard.execution.stacks import StackLine

__all__ = [
    "GRACE_S",
    "START_S",
    "Answer",
    "Answered",
    "Container",
    "Dispatcher",
    "Effects",
    "Held",
    "Host",
    "HostSettings",
    "Job",
    "JobResult",
    "Limits",
    "Measured",
    "NativeTrace",
    "Output",
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
    "bait",
    "decode_effects",
    "decode_measured",
    "decode_outputs",
    "find_debugger",
    "find_sanitizer",
    "growth_request",
    "peak_request",
    "probe_confinement",
    "probe_target",
    "probes_from",
    "sanitized",
    "time_request",
    "trace",
]
