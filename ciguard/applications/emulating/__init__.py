"""Services of several providers on this machine, which answer by engines of `answering`.

`request` is what comes by HTTP and what is answered. `google`, `aws` and `azure` are a provider's
services each: which requests are theirs, how they answer and refuse; what anybody may have sent,
`google_requests`, `aws_requests` and `azure_requests` read, with `reading`; `google_routes` says
which paths ask what. `emulator` answers a request, whosever it is and whatever has brought it.
`rest` brings them by HTTP, and reads `bodies`; `remote` starts a process beside Google's client
libraries, which brings those of gRPC to `rest`. `emulation` is all of it together, from what a
user says.
"""
