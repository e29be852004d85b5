"""Script templates of PyTorch's tensors, dtypes and seeds."""

from __future__ import annotations

from ciguard.libraries.scripts import Writer
from ciguard.libraries.torch.in_target.options import OPTIONS

_LOADED_BY_TORCH = frozenset(
    f"torch.{name}"
    for name in (
        *("autograd", "cuda", "distributions", "fft", "functional", "jit", "linalg", "nn"),
        *("nn.functional", "nn.init", "nn.utils", "ops", "ops.aten", "optim", "quantization"),
        *("random", "signal", "sparse", "special", "utils", "Tensor"),
    )
)

_MODULE = """

class Module(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.call = {call}

    def forward(self, *inputs):
        return self.call(*inputs)
"""

_GRADIENTS = """
def weighted_sum(value):
    if isinstance(value, (list, tuple)):
        return sum(weighted_sum(item) for item in value)
    if not (isinstance(value, torch.Tensor) and value.requires_grad and value.is_floating_point()):
        return 0
    weights = torch.linspace(0.5, 1.5, value.numel()).reshape(value.shape).to(value.dtype)
    return (value * weights).sum().double()


inputs = [x.requires_grad_() for x in {tuple} if x.is_floating_point()]
{run}
result = [result, torch.autograd.grad(weighted_sum(result), inputs, allow_unused=True)]
"""

_COPIED = """

def copied(result):
    if isinstance(result, torch.Tensor):
        return result.clone()
    return tuple([copied(part) for part in result])
"""

SCRIPT = Writer(
    imports=("import torch",),
    loaded=_LOADED_BY_TORCH,
    dtype="torch.{name}",
    literal="torch.tensor({data}, dtype={dtype})",
    full="torch.full({shape}, {value}, dtype={dtype})",
    zeros="torch.zeros({shape}, dtype={dtype})",
    from_array="torch.from_numpy({array})",
    cast="{tensor}.to({dtype})",
    seed="torch.manual_seed({seed})",
    device="torch.set_default_device({device})",
    layer_on_device=(
        'with torch.device("cpu"):  # its weights are the same on every device then\n{layer}\n'
        "layer = layer.to({device})"
    ),
    modes={
        "aot_eager": (
            "",
            'result = torch.compile({call}, backend="aot_eager", fullgraph=True)({row})',
        ),
        "compile": ("", "result = torch.compile({call}, fullgraph=True{options})({row})"),
        "export": (
            _MODULE,
            "result = torch.export.export(Module(), {tuple}).module()({row})",
        ),
        "trace": (
            "\ncopies = tuple(tensor.__deepcopy__({{}}) for tensor in {tuple})",
            "result = torch.jit.trace({call}, copies, check_trace=False)({row})",
        ),
    },
    options={name: f", options={settings!r}" for name, settings in OPTIONS.items()},
    gradients=_GRADIENTS,
    inference="torch.set_grad_enabled(False)",
    larger="{tensor}.repeat([2 if size > 1 else 1 for size in {tensor}.shape])",
    copied=_COPIED,
    layouts={
        "expanded": "{tensor}[:1].expand({tensor}.shape) if {tensor}.ndim else {tensor}",
        "reversed": "{tensor}.permute(*range({tensor}.ndim)[::-1]).contiguous()"
        ".permute(*range({tensor}.ndim)[::-1])",
        "shifted": "torch.cat(({tensor}.flatten(), {tensor}.flatten()))[{tensor}.numel() :]"
        ".view({tensor}.shape)",
        "sliding": "{tensor}.flatten().as_strided({tensor}.shape, [1] * {tensor}.ndim)",
        "stepped": "torch.stack(({tensor}, {tensor}), -1).select(-1, 0)",
    },
    overlapping=frozenset({"expanded", "sliding"}),
    autocast="with torch.autocast(torch.get_default_device().type, dtype={dtype}):",
    is_tensor="isinstance(value, torch.Tensor)",
    read=('str(value.dtype).replace("torch.", "")', "value.detach().flatten().tolist()"),
)
