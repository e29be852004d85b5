"""Services of several providers on this machine, which answer by engines of `virtualization`.

`emulator` answers a request by the services of the provider that it is for, whatever has brought
it. `rest` brings them by HTTP, and reads `bodies`; `remote` starts a process beside client
libraries, which brings those of gRPC to `rest`. `emulation` is all of it together, from what a
user says.
"""

from ciguard.levels.app.emulation.emulation import Emulating, Emulation, emulation
from ciguard.levels.app.emulation.remote import Speaking
from ciguard.levels.app.emulation.rest import RequestLogEntry

__all__ = [
    "Emulating",
    "Emulation",
    "RequestLogEntry",
    "Speaking",
    "emulation",
]
