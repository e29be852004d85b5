"""Source texts of helper functions for written scripts and tests."""

from __future__ import annotations

LISTED_HELPER = '''
def listed(function, argument):
    """Return the values that an annotation names."""
    return next(values for name, values, _ in function.__ciguard__["args"] if name == argument)
'''.strip()
"""Function `listed`, for text that looks up objects in annotations."""

SIDECAR_IMPORT = """
spec = importlib.util.spec_from_file_location("stubs", {file})
stubs = sys.modules["stubs"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(stubs)
""".strip()
"""Statements that import a sidecar as `stubs`, for text that uses its names."""

FIRST_HELPER = '''
async def first(items, count):
    """Return the first items of an asynchronous generator."""
    taken = []
    async for item in items:
        taken.append(item)
        if len(taken) == count:
            break
    return taken
'''.strip()
"""Function `first`, for text that consumes asynchronous generators."""

ARRAYS_HELPER = '''
@st.composite
def arrays(draw, dtypes, shape, low=None, high=None, nan=False):
    """Draw an array of one of several dtypes; shape and sizes may be strategies."""
    dtype = np.dtype(draw(st.sampled_from(dtypes)))
    sizes = draw(shape) if isinstance(shape, st.SearchStrategy) else shape
    sizes = tuple(draw(size) if isinstance(size, st.SearchStrategy) else size for size in sizes)
    if dtype.kind == "f":
        top = min(1e6, float(np.finfo(dtype).max))
        low, high = -top if low is None else low, top if high is None else high
        width = min(64, 8 * dtype.itemsize)
        low, high = float(dtype.type(low)), float(dtype.type(high))
        elements = st.floats(low, high, width=width)
        if nan:
            elements |= st.sampled_from([np.nan, np.inf, -np.inf])
    elif dtype.kind in "iu":
        limits = np.iinfo(dtype)
        low = max(int(limits.min), -100) if low is None else int(low)
        high = max(low, min(int(limits.max), 100)) if high is None else int(high)
        elements = st.integers(low, high)
    else:
        elements = npst.from_dtype(dtype, allow_nan=nan)
    return draw(npst.arrays(dtype, sizes, elements=elements))
'''.strip()
"""Strategy `arrays`, for tests that draw arrays."""
