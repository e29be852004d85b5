"""Source texts of helper functions for written scripts and tests."""

from __future__ import annotations

ANNOTATIONS_STAND_IN = """
try:
    import ciguard.annotations
except ImportError:  # only ciguard reads the annotations of the program
    import types

    ciguard = types.ModuleType("ciguard")
    ciguard.annotations = types.ModuleType("ciguard.annotations")
    for name in (
        "AnnotationError Range Ref Values anys arg bools cc_example dicts dtypes ensure "
        "exclude floats froms generator include int_lists ints lists module_test "
        "np_arrays np_shapes objs raises ref require strings tensors timeout tuples"
    ).split():
        setattr(ciguard.annotations, name, lambda *values, **options: lambda function: function)
    for name in ("exclude", "generator", "include", "module_test"):  # without arguments
        setattr(ciguard.annotations, name, lambda function=None, **options: function)
    sys.modules.update({"ciguard": ciguard, "ciguard.annotations": ciguard.annotations})
""".strip()
"""Statements that replace `ciguard.annotations` if ciguard is not installed."""

ELEMENTS_HELPER = '''
def elements(value):
    """Return the elements of a number, an array or a tensor."""
    if isinstance(value, np.ma.MaskedArray):
        return value.compressed()
    try:
        if hasattr(value, "detach"):
            value = value.detach().cpu()
            value = value.float() if str(value.dtype) == "torch.bfloat16" else value
        return np.asarray(value)
    except Exception:  # such as a sparse tensor, whose elements cannot be read
        return np.empty(0)
'''.strip()
"""Function `elements`, for checks of results and arguments."""

NAN_HELPER = '''
def has_nan(value):
    """Return whether a result contains NaN, also inside arrays and collections."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple, set, frozenset)):
        return any(map(has_nan, value))
    numbers = elements(value)
    return bool(numbers.dtype.kind in "fc" and np.isnan(numbers).any())
'''.strip()
"""Function `has_nan`, which needs `elements`."""

STATE_HELPER = '''
def state(value):
    """Return the state of an argument, which differs if a call has changed the argument."""
    if isinstance(value, dict):
        return [(repr(key), state(item)) for key, item in value.items()]
    if isinstance(value, (list, tuple)):
        return list(map(state, value))
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        array = elements(value)
        return str(array.dtype), array.shape, array.tobytes()
    is_plain = isinstance(value, (bool, int, float, complex, str, bytes))
    return repr(value) if is_plain else type(value)
'''.strip()
"""Function `state`, which needs `elements`."""

CONSUME_HELPER = '''
def consume(returned):
    """Return the first items of an iterator, or the value of a collection of dask."""
    if isinstance(returned, (list, tuple)):
        return [consume(item) if hasattr(item, "__dask_graph__") else item for item in returned]
    if hasattr(returned, "__dask_graph__"):
        return returned.compute()
    # Other iterators may have effects, such as reading a file.
    is_read = type(returned).__module__ in ("builtins", "itertools")
    is_read = is_read and hasattr(returned, "__next__")
    return list(itertools.islice(returned, {count})) if is_read else returned
'''.strip()
"""Function `consume`, for text that calls functions with lazy results."""

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
