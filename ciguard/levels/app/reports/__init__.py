"""What comes of applications, in words: as lines, for programs, as a page, as patches.

`services` tells what applications ask, and what came of made answers; `accuracy` what came of
inputs, also as a `page`; `remarks` says it at lines of a pull request, `patches` writes what is
suggested, `emulation` tells of services on this machine.
"""
