"""Forms of TensorFlow's tensors: variable, sparse, ragged and quantised."""

from __future__ import annotations

from ciguard.domain.values import MemberValue
from ciguard.libraries.forms import TensorForm, through

FORMS = (
    TensorForm("variable", through("tensorflow.Variable")),
    TensorForm("sparse", through("tensorflow.sparse.from_dense"), ranks=(1, 5)),
    TensorForm("ragged", through("tensorflow.RaggedTensor.from_tensor"), ranks=(2, 5)),
    *(
        TensorForm(
            f"quantised {stored_dtype}",
            through("tensorflow.bitcast", MemberValue(f"tensorflow.q{stored_dtype}")),
            frozenset({stored_dtype}),
        )
        for stored_dtype in ("int8", "uint8", "int16", "int32")
    ),
)
