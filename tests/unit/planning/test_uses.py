from __future__ import annotations

import json

import pytest

from ciguard.domain.plan import Place
from ciguard.planning.api_names import ApiNames
from ciguard.planning.checkout import ChangedFile
from ciguard.planning.uses import MAX_PLACES, Usage, find_uses, own_sources


@pytest.fixture(scope="module")
def names() -> ApiNames:
    return ApiNames()


def _usage(names: ApiNames, changed: tuple[ChangedFile, ...] = (), /, **files: str) -> Usage:
    """Find the uses of APIs in source files: `a_b="text"` is the file `a/b.py`."""
    sources = [(f"{name.replace('_', '/')}.py", text.encode()) for name, text in files.items()]
    return find_uses(sources, changed, names)


def test_apis_have_their_names_in_the_catalogue(names: ApiNames) -> None:
    source = """
import tensorflow as tf
import jax.numpy as jnp
import torch.nn.functional as F
from torch.nn.modules.linear import Linear
tf.math.reduce_mean(1)
tf.compat.v2.math.abs(1)
jnp.add(1, 2)
F.conv2d(1)
Linear(1, 2).forward(1)
F.relu.__name__
"""

    assert set(_usage(names, a=source).places) == {
        "tensorflow.reduce_mean",
        "tensorflow.abs",
        "jax.numpy.add",
        "torch.conv2d",
        "torch.nn.Linear",
        "torch.nn.functional.relu",
    }


def test_constants_types_modules_and_private_names_are_not_apis(names: ApiNames) -> None:
    source = """
import torch
f(torch.float32, torch.Tensor, torch.nn.functional, torch)
torch._C._something(1)
"""

    assert _usage(names, a=source).places == {}


def test_a_call_missing_in_all_catalogues_keeps_its_name(names: ApiNames) -> None:
    assert list(_usage(names, a="import torch\ntorch.brand_new(1)").places) == ["torch.brand_new"]


def test_names_are_resolved_through_modules_of_the_repository(names: ApiNames) -> None:
    files = {
        "src/mine/__init__.py": "from .compat import tf as tensors\n",
        "src/mine/compat.py": "import tensorflow as tf\nfrom torch.nn import functional as F\n",
        "src/mine/model.py": "from mine.compat import F\nfrom . import compat, tensors\n"
        "F.relu(1)\ncompat.tf.abs(1)\ntensors.sin(1)\n",
        "train.py": "import helper\nhelper.act(1)\n",
        "helper.py": "from torch import nn\nact = nn.GELU\n",
    }

    usage = find_uses([(path, text.encode()) for path, text in files.items()], (), names)

    assert usage.places["torch.nn.functional.relu"] == (Place(path="src/mine/model.py", line=3),)
    assert usage.places["tensorflow.abs"] == (Place(path="src/mine/model.py", line=4),)
    assert usage.places["tensorflow.sin"] == (Place(path="src/mine/model.py", line=5),)
    assert Place(path="train.py", line=2) in usage.places["torch.nn.GELU"]


def test_the_search_ends_with_circular_imports(names: ApiNames) -> None:
    usage = _usage(names, a="from b import x\nx.abs(1)\n", b="from a import x\n")

    assert usage.places == {}


def test_the_search_ends_with_a_very_long_chain_of_imports(names: ApiNames) -> None:
    files = {f"m{number}": f"from m{number + 1} import x\nx.abs(1)\n" for number in range(2_000)}

    assert _usage(names, **files).places == {}


def test_many_modules_that_re_export_all_names_are_searched_quickly(names: ApiNames) -> None:
    everybody = "".join(f"from m{other} import *\n" for other in range(40))
    files = {f"m{number}": everybody + "print(x, y)\n" for number in range(40)}
    files["m0"] += "from torch import abs as x\n"

    usage = _usage(names, **files)

    assert list(usage.places) == ["torch.abs"]


def test_names_of_a_star_import_are_found(names: ApiNames) -> None:
    usage = _usage(
        names,
        compat="from torch.nn import *\n",
        a="from torch import *\nfrom compat import *\ny = Linear(1, 2)\nz = cat([1])\nprint(1)\n",
    )

    assert set(usage.places) == {"torch.nn.Linear", "torch.cat"}


def test_tensor_methods_are_found_if_no_other_object_has_their_name(names: ApiNames) -> None:
    source = """
import torch
class Net:
    def permute_it(self): ...
    def argsort(self): ...
x.unsqueeze(0)
x.split(1)
x.reshape(2)
self.softmax(x)
x.argsort()
"""

    assert list(_usage(names, a=source).places) == ["torch.Tensor.unsqueeze"]
    for other in ("import pandas\n", "import tensorflow\n"):
        assert "torch.Tensor.unsqueeze" not in _usage(names, a=other + source).places


def test_apis_in_changed_lines_come_first(names: ApiNames) -> None:
    source = "import torch\ntorch.abs(1)\ntorch.sin(\n    2)\ntorch.cos(1)\n"
    change = ChangedFile(path="a.py", lines=((4, 4),))

    usage = _usage(names, (change,), a=source, b="import torch\n" + "torch.tan(1)\n" * 9)

    assert usage.in_changes == ("torch.sin",)
    assert usage.in_changed_files == ("torch.abs", "torch.cos")
    assert usage.elsewhere == ("torch.tan",)
    assert usage.apis[0] == "torch.sin"


def test_changed_functions_are_named(names: ApiNames) -> None:
    source = "def f():\n    pass\n\n\n@x\ndef g():\n    pass\n"
    change = ChangedFile(path="a.py", lines=((5, 5),))

    assert _usage(names, (change,), a=source).changed_definitions == ("g in a.py",)


def test_places_of_an_api_are_limited_and_those_in_changed_lines_are_kept(names: ApiNames) -> None:
    change = ChangedFile(path="a.py", lines=((400, 400),))

    places = _usage(names, (change,), a="import torch\n" + "torch.abs(1)\n" * 500).places

    assert len(places["torch.abs"]) == MAX_PLACES
    assert places["torch.abs"][0].line == 400


def test_a_file_that_cannot_be_parsed_is_reported_and_others_are_searched(names: ApiNames) -> None:
    usage = _usage(names, a="def (:\n", b="import torch\ntorch.abs(1)\n")

    assert list(usage.places) == ["torch.abs"]
    assert len(usage.problems) == 1
    assert usage.problems[0].startswith("a.py was not analysed: SyntaxError in line 1")


def test_code_of_a_notebook_is_read_with_the_lines_of_its_file(names: ApiNames) -> None:
    cells = [
        {"cell_type": "markdown", "source": ["import torch\n", "torch.tan(1)"]},
        {"cell_type": "code", "source": ["%matplotlib inline\n", "import torch\n"]},
        {"cell_type": "code", "source": ["!pip list\n", "torch.abs(\n", "  'é')\n", "x?"]},
        {"cell_type": "code", "source": "%%bash\ntorch.sin(1)"},
    ]
    text = json.dumps({"cells": cells}, indent=1)
    line = next(n for n, text in enumerate(text.splitlines(), 1) if "torch.abs" in text)

    usage = find_uses([("a.ipynb", text.encode())], (), names)

    assert usage.places == {"torch.abs": (Place(path="a.ipynb", line=line),)}


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b"\xff", b'{"cells": [1, {"source": 3}]}'])
def test_a_broken_notebook_is_reported_without_an_error(names: ApiNames, content: bytes) -> None:
    usage = find_uses([("a.ipynb", content)], (), names)

    assert usage.places == {}


def test_environments_in_the_repository_are_left_out() -> None:
    paths = ["a.py", "env/pyvenv.cfg", "env/lib/x.py", "b/site-packages/y.py", "b/z.ipynb", "c.txt"]

    assert own_sources(paths) == ["a.py", "b/z.ipynb"]


ANNOTATED = "from ciguard.annotations import arg\n"


def test_annotated_files_that_a_change_reaches_are_listed_nearest_first(
    names: ApiNames,
) -> None:
    files = {
        "shapes": "def halves(x): ...\n",
        "near": f"{ANNOTATED}from shapes import halves\n",
        "far": f"{ANNOTATED}import near\n",
        "plain": "from shapes import halves\n",
        "other": ANNOTATED,
        "beside": "import shapes\n",
    }
    sources = [(f"{name}.py", text.encode()) for name, text in files.items()]
    sources.append(("beside.annotations.py", ANNOTATED.encode()))

    usage = find_uses(sources, (ChangedFile(path="shapes.py", lines=((1, 1),)),), names)

    assert usage.annotated_files == ("beside.py", "near.py", "far.py")
    assert find_uses(sources, (), names).annotated_files == ()


def test_a_changed_sidecar_stands_for_its_program(names: ApiNames) -> None:
    sources = [("a.py", b"def f(): ...\n"), ("a.annotations.py", ANNOTATED.encode())]

    usage = find_uses(sources, (ChangedFile(path="a.annotations.py"),), names)

    assert usage.annotated_files == ("a.py",)


def test_files_that_a_change_reaches_are_listed_if_a_service_is_used(names: ApiNames) -> None:
    files = {
        "labels": "from google.cloud import vision\n",
        "bins": "from labels import labels_of\n",
        "other": "import os\n",
    }
    sources = [(f"{name}.py", text.encode()) for name, text in files.items()]

    usage = find_uses(sources, (ChangedFile(path="labels.py", lines=((1, 1),)),), names)

    assert usage.paths_by_level == {"app": ("labels.py", "bins.py")}
    assert find_uses(sources[1:], (ChangedFile(path="bins.py"),), names).paths_by_level == {}


@pytest.mark.parametrize(
    "source",
    [
        "import triton\n@triton.jit\ndef add(x): ...\n",
        "from triton.language import *\n",
        "from jax.experimental import pallas as pl\npl.pallas_call(f)\n",
        "from numba import cuda\n@cuda.jit\ndef add(x): ...\n",
        "from torch.utils.cpp_extension import CUDAExtension\nCUDAExtension('a', ['a.cu'])\n",
    ],
)
def test_files_with_kernels_that_a_change_reaches_are_listed(names: ApiNames, source: str) -> None:
    sources = [("sizes.py", b"BLOCK = 128\n"), ("ops.py", b"import sizes\n" + source.encode())]

    of_helper = find_uses(sources, (ChangedFile(path="sizes.py"),), names)
    of_kernels = find_uses(sources, (ChangedFile(path="ops.py"),), names)
    of_others = find_uses(sources, (ChangedFile(path="train.py"),), names)

    assert (of_helper.kernel_files, of_kernels.kernel_files) == (("ops.py",), ("ops.py",))
    assert of_others.kernel_files == ()


def test_files_that_only_choose_a_device_have_no_kernels(names: ApiNames) -> None:
    source = b"import torch, numba\ntorch.cuda.is_available()\nnumba.jit(f)\n"

    assert find_uses([("a.py", source)], (ChangedFile(path="a.py"),), names).kernel_files == ()


def test_changed_files_that_cannot_be_parsed_may_have_kernels(names: ApiNames) -> None:
    sources = [("a.py", b"def (:\n"), ("b.py", b"def (:\n"), ("c.ipynb", b"{")]
    changed = (ChangedFile(path="a.py"), ChangedFile(path="c.ipynb"))

    assert find_uses(sources, changed, names).kernel_files == ("a.py", "c.ipynb")
