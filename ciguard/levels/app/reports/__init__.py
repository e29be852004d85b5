"""Reports of level `app`: as text, as JSON, as a page, as annotations and as patches.

`services` reports the service calls of applications, and the results of stub responses; `accuracy`
the results of synthesised inputs, also as a `page`. `remarks` writes annotations of pull requests,
`patches` writes suggested changes, `emulation` reports emulated services.
"""
