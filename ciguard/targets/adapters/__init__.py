"""One adapter per library. They run inside a target's interpreter: standard library, numpy and the
library under test only, Python 3.9 and later, nothing else of ciguard but `contract`, `introspection`
and their own `*_catalogue` module.
"""
