"""A service that speaks as Google's do, on this machine, and answers by engines of `answering`.

`routes` says which paths ask what, in REST and in gRPC; `requests` reads what anybody may have
sent; `emulator` answers a request, whatever has brought it. `rest` brings them by HTTP; `remote`
starts a process beside the client libraries, which brings those of gRPC to `rest`. `emulation` is
all of it together, from what a user says.
"""
