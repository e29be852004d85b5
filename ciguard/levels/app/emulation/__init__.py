"""Emulated services of several providers, answered by the engines of `virtualization`.

`emulator` dispatches a request to the services of its provider. `rest` receives HTTP requests, and
`bodies` reads their bodies. `remote` starts the gRPC server in an interpreter with the client
libraries; it forwards requests to `rest`. `emulation` starts all servers with a user's options.
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
