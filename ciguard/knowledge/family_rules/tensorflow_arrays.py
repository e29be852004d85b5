"""Rules for TensorFlow's slicing, sparse tensors, reductions, linear algebra and others."""

from __future__ import annotations

import base64

from ciguard.domain.values import LiteralValue
from ciguard.knowledge.clues import LEAD
from ciguard.knowledge.family_rules.fields import (
    SCALAR,
    Table,
    between,
    scalar,
    shaped,
    texts,
)
from ciguard.values import Between, RankOf

ENCODED_IMAGES = tuple(
    LiteralValue(base64.b64decode(text))
    for text in (
        # One pixel each: PNG, GIF, BMP.
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
        "R0lGODlhAQABAIAAAP///wAAACwAAAAAAQABAAACAkQBADs=",
        "Qk06AAAAAAAAADYAAAAoAAAAAQAAAAEAAAABABgAAAAAAAQAAAATCwAAEwsAAAAAAAAAAAAA////AA==",
    )
)

ARRAY_RULES: Table = (
    (
        r"raw_ops\.(?:I?RFFT|Batch.*FFT|.*FFT)2D",
        {"input": {"ndim": (2, 3)}, "fft_length": shaped((2,), 1, 4)},
    ),
    (
        r"raw_ops\.(?:I?RFFT|Batch.*FFT|.*FFT)3D",
        {"input": {"ndim": (3, 4)}, "fft_length": shaped((3,), 1, 4)},
    ),
    (r"raw_ops\.SparseSoftmaxCrossEntropy", {"labels": shaped(("N",), 0, 0)}),
    (
        r"raw_ops\..*(?:UniformCandidate|UnigramCandidate|AllCandidate)Sampler",
        {
            "true_classes": shaped(("N", "num_true"), 0, 3),
            "num_true": between(1, 3) | {"size": "num_true"},
            "num_sampled": between(1, 4),
            "range_max": between(4, 8),
            "unigrams": {"length": (4, 4)},
        },
    ),
    (
        r"raw_ops\..*SetOperation",
        {"set_operation": texts("a-b", "b-a", "intersection", "union")},
    ),
    (
        r"raw_ops\.(?:Decode(?:Image|Png|Gif|Bmp|Jpeg|AndCropJpeg)|ExtractJpegShape)",
        {
            "contents": {"allowed": ENCODED_IMAGES},
            "channels": between(0, 4),
            "ratio": between(1, 1),
            "crop_window": shaped((4,), 0, 1),
        },
    ),
    (
        r"raw_ops\.Unicode",
        {"(?:input|output)_encoding": texts("UTF-8", "UTF-16-BE", "UTF-32-BE")},
    ),
    (r"raw_ops\.(?:UniqueV2|UniqueWithCountsV2)", {"axis": shaped((1,), 0, 0)}),
    (r"raw_ops\.Cross$", {"a": shaped(("N", 3)), "b": shaped(("N", 3))}),
    (
        r"raw_ops\.ReverseSequence",
        {
            "input": shaped(("N", 4)),
            "seq_lengths": shaped(("N",), 1, 4),
            "seq_dim": between(1, 1),
            "batch_dim": between(0, 0),
        },
    ),
    (
        r"raw_ops\.ImageProjectiveTransform",
        {"images": shaped(("N", 4, 4, "C")), "transforms": shaped((1, 8), 0, 1)},
    ),
    (
        r"raw_ops\.ScaleAndTranslate",
        {
            "images|grads|original_image": shaped(("N", 4, 4, "C")),
            "size": shaped((2,), 1, 6),
            "scale|translation": shaped((2,), 1, 2),
        },
    ),
    (
        r"raw_ops\.UniformQuantize|raw_ops\.Uniform(?:Dequantize|Requantize)",
        {
            "\\w*scales?": scalar(1, 2),
            "\\w*zero_points?": scalar(0, 1),
            "lhs": shaped(("N", "C")),
            "rhs": shaped(("C", "O")),
        },
    ),
    (r"raw_ops\.SparseMatMul", {"a": shaped(("M", "M")), "b": shaped(("M", "M"))}),
    (r"raw_ops\.Tridiagonal", {"rhs": shaped(("M", "K")), "\\w*diag": shaped((1, "M"))}),
    (
        r"raw_ops\.(?:LSTMBlockCell|BlockLSTM|GRUBlockCell)",
        {"seq_len_max": scalar(1, 3), "w_ru|w_c": shaped((4, 4)), "b_ru|b_c": shaped((4,))},
    ),
    (r"raw_ops\.\w*Dataset", {"seed2?|count|batch_size|buffer_size": scalar(1, 4)}),
    (r"raw_ops\.(?:Fingerprint)", {"method": {"allowed": (LiteralValue(b"farmhash64"),)}}),
    (r"raw_ops\.EditDistance", {"\\w*_shape": shaped((2,), 4, 4)}),
    (r"raw_ops\.Diag", {"input": shaped(("M", "M")), "diagonal": {"ndim": (1, 3)}}),
    (
        r"raw_ops\.(?:Sparse)?(?:Unsorted)?Segment|raw_ops\.SparseSegment",
        {
            "data": {"ndim": (1, 3)},
            "indices": shaped(("nnz",), 0, 0),
            "segment_ids": {"shape": ("nnz",), "low": 0, "high": 2, "increasing": True},
            "num_segments|output_dim0": scalar(3, 5),
        },
    ),
    (
        r"raw_ops\.Segment(?:Max|Mean|Min|Prod|Sum)(?:V2)?$",
        {"data": shaped(("nnz", Between(1, 4)))},
    ),
    (
        r"raw_ops\.UnsortedSegment",
        {"data": shaped(("nnz", Between(1, 4))), "segment_ids": shaped(("nnz",), 0, 2)},
    ),
    (r"raw_ops\.(?:Batch)?MatMul", {"a|x": shaped(("M", "M")), "b|y": shaped(("M", "M"))}),
    (
        (
            r"raw_ops\.(?:Batch)?(?:Cholesky|Matrix(?:Inverse|Determinant|Exponential|Logarithm|SquareRoot)|"
            r"LogMatrixDeterminant|Lu|SelfAdjointEig|Eig|Svd|Qr)"
        ),
        {"input|l|grad|matrix": shaped(("M", "M"))},
    ),
    (
        r"raw_ops\.(?:Batch)?(?:MatrixSolve|MatrixTriangularSolve|BandedTriangularSolve)",
        {"matrix": shaped(("M", "M")), "rhs": shaped(("M", "K")), "l2_regularizer": SCALAR},
    ),
    (
        r"raw_ops\.(?:Batch)?MatrixDiag|raw_ops\.MatrixSetDiag|raw_ops\.MatrixBandPart",
        {
            "k|num_rows|num_cols|padding_value|num_lower|num_upper": scalar(-1, 0),
            "diagonal": {"ndim": (1, 2)},
            "input": shaped(("M", "M")),
        },
    ),
    (r"raw_ops\.(?:I?R?FFT|.*FFT)", {"fft_length": shaped((1,), 1, 4)}),
    (
        (
            r"raw_ops\.(?:Sum|Prod|Mean|Max|Min|All|Any|EuclideanNorm)$|raw_ops\.(?:Reverse|Roll|Cumsum|"
            r"Cumprod|CumulativeLogsumexp|ExpandDims|Arg(?:Max|Min)|Unpack|Pack)"
        ),
        {
            "axis|dims?|dimension|reduction_indices|dim": {"ndim": (0, 0), "axis_of": LEAD},
            "shift": scalar(-2, 2),
        },
    ),
    (
        r"raw_ops\.ReverseV2|raw_ops\.Sparse(?:Reduce)",
        {"axis|reduction_axes": {"shape": (1,), "axis_of": LEAD}},
    ),
    (r"raw_ops\.Reverse$", {"dims": shaped((RankOf(LEAD),))}),
    (
        r"raw_ops\.(?:Concat|ConcatV2)$",
        {
            "axis|concat_dim": {"ndim": (0, 0), "axis_of": "values"},
            "values": {"length": (2, 3), "ndim": (1, 4)},
        },
    ),
    (r"raw_ops\.(?:Conjugate)?Transpose$", {"perm": {"shape": (RankOf("x"),), "axis_of": "x"}}),
    (r"raw_ops\.Invert", {"x": {"ndim": (1, 1), "axis_of": "x"}}),
    (
        r"raw_ops\.(?:MirrorPad|Pad)(?:V2|Grad)?$",
        {"paddings": shaped((RankOf("input"), 2), 0, 0), "constant_values": SCALAR},
    ),
    (r"raw_ops\.Tile", {"multiples": shaped((RankOf("input"),), 1, 3)}),
    (
        r"raw_ops\.(?:StridedSlice|Slice|TensorStridedSlice|ResourceStridedSlice)",
        {
            "begin": shaped((RankOf("input"),), 0, 0),
            "end": shaped((RankOf("input"),), 1, 1),
            "size|strides": shaped((RankOf("input"),), 1, 1),
            "input": {"ndim": (1, 4)},
        },
    ),
    (
        (
            r"raw_ops\.(?:Fill|BroadcastTo|Empty|Reshape|TruncatedNormal|Random\w+|Stateless\w+|"
            r"Parameterized\w+|TensorListReserve|EmptyTensorList|PlaceholderWithDefault)"
        ),
        {
            "shape|dims": {"ndim": (1, 1), "low": 1, "high": 4},
            "seed": shaped((2,), 0, 9),
            "key": shaped((1,), 0, 9),
            "counter": shaped((2,), 0, 9),
            "alg": scalar(1, 2),
            "minval": scalar(0, 1),
            "maxval": scalar(2, 4),
            "value|means|stdevs": SCALAR,
            "counts": between(1, 4),
            "probs": between(0, 1),
            "lam|alpha": between(0, 3),
            "logits": shaped(("N", "C")),
            "num_samples": scalar(1, 4),
        },
    ),
    (
        r"raw_ops\.(?:Gather|GatherV2|ResourceGather)$",
        {
            "params": {"ndim": (1, 4)},
            "axis": scalar(0, 0),
            "indices": {"index_of": "params", "ndim": (0, 2)},
            "batch_dims": between(0, 0),
        },
    ),
    (
        r"raw_ops\.(?:GatherNd|ScatterNd|TensorScatter)",
        {
            "params|tensor": shaped((4, Between(1, 4))),
            "indices": shaped(("n", 1), 0, 3),
            "updates": shaped(("n", 4)),
            "shape": shaped((2,), 4, 4),
        },
    ),
    (r"raw_ops\.TensorScatter", {"tensor": shaped((4, 4))}),
    (
        r"raw_ops\.(?:Split|SplitV)$",
        {
            "axis|split_dim": scalar(0, 0),
            "num_split": between(1, 2),
            "value": shaped((4, Between(1, 4))),
            "size_splits": shaped((2,), 2, 2),
        },
    ),
    (
        r"raw_ops\.(?:Sparse)?SoftmaxCrossEntropy",
        {"features": shaped(("N", "C")), "labels": shaped(("N", "C"))},
    ),
    (
        r"raw_ops\.(?:InTopK|TopK|NthElement)",
        {
            "predictions|input": shaped(("N", Between(3, 5))),
            "targets": shaped(("N",), 0, 2),
            "k|n": scalar(1, 2),
        },
    ),
    (
        r"raw_ops\.(?:Bincount|DenseBincount|RaggedBincount|SparseBincount)",
        {
            "size": scalar(4, 8),
            "arr|input|values": {"ndim": (1, 2), "low": 0, "high": 3},
            "weights": {"shape_of": LEAD},
            "splits": {"ndim": (1, 1), "increasing": True, "low": 0, "high": 2},
        },
    ),
    (
        r"raw_ops\.CTC",
        {
            "inputs": shaped((4, "N", 5)),
            "sequence_length": shaped(("N",), 1, 4),
            "labels_indices": shaped(("nnz", 2), 0, 0),
            "labels_values": shaped(("nnz",), 0, 2),
            "beam_width|top_paths": between(1, 2),
        },
    ),
    (
        r"raw_ops\.(?:RaggedTensor|RaggedGather|RaggedRange)",
        {
            "(?:\\w+_)?splits": {"increasing": True, "low": 0, "high": 2},
            "starts|limits|deltas": scalar(1, 3),
        },
    ),
    (
        r"raw_ops\.(?:Range|LinSpace)$",
        {"start": scalar(0, 2), "limit|stop": scalar(3, 8), "delta|num": scalar(1, 3)},
    ),
    (
        r"raw_ops\.(?:LSTMBlockCell|BlockLSTM)",
        {
            "x": shaped(("N", "I")),
            "cs_prev|h_prev": shaped(("N", 2)),
            "wci|wcf|wco": shaped((2,)),
            "b": shaped((8,)),
        },
    ),
    (
        r"raw_ops\.(?:Lower|Upper)Bound|raw_ops\.SearchSorted",
        {"sorted_inputs|values": shaped(("N", Between(1, 4)))},
    ),
    (r"raw_ops\.(?:MatrixDiagPart)", {"input": {"ndim": (2, 4)}}),
    (
        r"raw_ops\..*(?:String|Decode|Encode|Parse|Bytes|Substr|Regex|Unicode)",
        {"pos|len": scalar(0, 2)},
    ),
    (
        r"raw_ops\..*(?:Sparse|Set(?:Size|To)|DenseTo.*Set|DenseToDense|Serialize)",
        {
            "(?:\\w+_)?(?:indices|indexes)\\d?": shaped(("nnz", 2), 0, 1),
            "(?:\\w+_)?values\\d?": shaped(("nnz",)),
            "(?:\\w+_)?(?:shape|dense_shape)\\d?": shaped((2,), 4, 4),
            "sparse_indices": shaped(("nnz", 2), 0, 1),
            "b|dense": shaped((4, 4)),
            "default_value": SCALAR,
            "new_shape": shaped((1,), 16, 16),
        },
    ),
)
"""Rules in order of precedence."""
