"""Tests of functions under Hypothesis: valid calls are drawn until some fail, and then told.

Only `function_tests`, `search` and `examples` import Hypothesis, which takes long: campaigns never
need it.
"""
