"""Emulated services of several providers, answered by the engines of `virtualization`.

`emulator` dispatches a request to the services of its provider. `rest` receives requests by HTTP,
and reads their `bodies`. `remote` starts a process beside the client libraries, which forwards gRPC
requests to `rest`. `emulation` starts all of it from a user's options.
"""

from ciguard.levels.app.emulation.emulation import Emulation, EmulationOptions, emulation
from ciguard.levels.app.emulation.remote import GrpcAvailable
from ciguard.levels.app.emulation.rest import RequestLogEntry

__all__ = [
    "Emulation",
    "EmulationOptions",
    "GrpcAvailable",
    "RequestLogEntry",
    "emulation",
]
