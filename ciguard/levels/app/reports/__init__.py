"""Reports of level `app`: as text, as JSON, as a page, as annotations and as patches.

`services` reports an application's service calls, and the results of stub responses. `accuracy`
reports the results of synthesised inputs, and `page` shows them as HTML. `remarks` writes
annotations of pull requests, `patches` suggested changes. `emulation` reports emulated services.
"""
