"""Forms of TensorFlow's tensors: variable, sparse, ragged and quantised."""

from __future__ import annotations

from ciguard.domain.values import MemberValue
from ciguard.libraries.forms import TensorForm, call_maker

FORMS = (
    TensorForm("variable", call_maker("tensorflow.Variable")),
    TensorForm("sparse", call_maker("tensorflow.sparse.from_dense"), ranks=(1, 5)),
    TensorForm("ragged", call_maker("tensorflow.RaggedTensor.from_tensor"), ranks=(2, 5)),
    *(
        TensorForm(
            f"quantised {stored_dtype}",
            call_maker("tensorflow.bitcast", MemberValue(f"tensorflow.q{stored_dtype}")),
            frozenset({stored_dtype}),
        )
        for stored_dtype in ("int8", "uint8", "int16", "int32")
    ),
)
