"""A part of the library that this installation cannot load."""

message = "libplanted.so.3: cannot open shared object file"
raise ImportError(message)
