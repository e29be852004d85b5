"""The tables of operator families: an API pattern, then the fields of a clue by parameter pattern."""

from __future__ import annotations

from typing import Any, TypeAlias

from ciguard.domain import ListValue, LiteralValue
from ciguard.knowledge.clues import LEAD, Structure
from ciguard.values import Between, Named, RankOf

Fields: TypeAlias = dict[str, Any]
Table: TypeAlias = tuple[tuple[str, dict[str, Fields]], ...]


def _lists(*rows: tuple[int, ...]) -> tuple[ListValue, ...]:
    return tuple(ListValue(tuple(map(LiteralValue, row))) for row in rows)


_H, _W, _D = Named("H", 4, 8), Named("W", 4, 8), Named("D", 4, 8)
_KH, _KW, _KD = Between(1, 3), Between(1, 3), Between(1, 3)
_INTS = (Structure.INTS,)
_WINDOW_4 = {
    "structures": _INTS,
    "allowed": _lists((1, 1, 1, 1), (1, 2, 2, 1), (1, 2, 1, 1), (1, 3, 2, 1)),
}
_STEP_4 = {"structures": _INTS, "allowed": _lists((1, 1, 1, 1), (1, 2, 2, 1), (1, 1, 1, 1))}
_ONES_4 = {"structures": _INTS, "allowed": _lists((1, 1, 1, 1))}
_WINDOW_5 = {
    "structures": _INTS,
    "allowed": _lists((1, 1, 1, 1, 1), (1, 2, 2, 2, 1), (1, 1, 2, 3, 1)),
}
_STEP_5 = {"structures": _INTS, "allowed": _lists((1, 1, 1, 1, 1), (1, 2, 2, 2, 1))}
_ONES_5 = {"structures": _INTS, "allowed": _lists((1, 1, 1, 1, 1))}
_IMAGE = {"shape": ("N", _H, _W, "C")}
_VOLUME = {"shape": ("N", _D, _H, _W, "C")}
_SCALAR = {"ndim": (0, 0)}

TENSORFLOW: Table = (
    (r"raw_ops\..*Conv2D(?!Backprop)", {
        "input|tensor_in|features": _IMAGE,
        "filter": {"shape": (_KH, _KW, "C", "O")},
        "strides": _STEP_4, "dilations": _ONES_4, "explicit_paddings": {"allowed": _lists(())},
        "data_format": {"allowed": (LiteralValue("NHWC"),)},
        "padding": {"allowed": (LiteralValue("SAME"), LiteralValue("VALID"))},
    }),
    (r"raw_ops\.Conv2DBackprop|raw_ops\.DepthwiseConv2dNativeBackprop", {
        "input": _IMAGE, "filter": {"shape": (1, 1, "C", "O")},
        "out_backprop": {"shape": ("N", _H, _W, "O")},
        "input_sizes|filter_sizes": {"shape": (4,), "low": 1, "high": 4},
        "strides|dilations": _ONES_4, "explicit_paddings": {"allowed": _lists(())},
        "data_format": {"allowed": (LiteralValue("NHWC"),)},
        "padding": {"allowed": (LiteralValue("SAME"), LiteralValue("VALID"))},
    }),
    (r"raw_ops\.DepthwiseConv2dNative$", {
        "input": _IMAGE, "filter": {"shape": (_KH, _KW, "C", Between(1, 2))},
        "strides|dilations": _ONES_4, "explicit_paddings": {"allowed": _lists(())},
        "data_format": {"allowed": (LiteralValue("NHWC"),)},
        "padding": {"allowed": (LiteralValue("SAME"), LiteralValue("VALID"))},
    }),
    (r"raw_ops\.(?:Conv3D|.*3D)", {
        "input|orig_input|orig_output|features": _VOLUME,
        "filter": {"shape": (_KD, _KH, _KW, "C", "O")},
        "out_backprop": {"shape": ("N", _D, _H, _W, "O")},
        "grad": _VOLUME,
        "orig_input_shape": {"shape": (5,), "low": 1, "high": 5},
        "input_sizes|filter_sizes": {"shape": (5,), "low": 1, "high": 4},
        "ksize": _WINDOW_5, "strides": _STEP_5, "dilations": _ONES_5,
        "data_format": {"allowed": (LiteralValue("NDHWC"),)},
    }),
    (r"raw_ops\..*(?:Max|Avg)Pool|raw_ops\.(?:Fractional|LRN|.*[iI]mage|Resize|.*ResizeGrad)", {
        "input|orig_input|orig_output|images|value|tensor_in": _IMAGE,
        "grad|grads|out_backprop": _IMAGE,
        "orig_input_shape": {"shape": (4,), "low": 1, "high": 5},
        "ksize": _WINDOW_4, "strides": _STEP_4,
        "pooling_ratio": {"structures": (Structure.FLOATS,), "low": 1, "high": 1, "length": (4, 4)},
        "data_format": {"allowed": (LiteralValue("NHWC"),)},
        "padding": {"allowed": (LiteralValue("SAME"), LiteralValue("VALID"))},
        "size": {"shape": (2,), "low": 1, "high": 8},
        "argmax": {**_IMAGE, "low": 0, "high": 3},
    }),
    (r"raw_ops\.(?:MaxPoolV2|MaxPoolGradV2|MaxPoolGradGradV2)", {
        "ksize": {"shape": (4,), "low": 1, "high": 1}, "strides": {"shape": (4,), "low": 1, "high": 1},
    }),
    (r"raw_ops\.(?:Dilation2D|ExtractImagePatches)", {
        "input|images": _IMAGE, "filter": {"shape": (_KH, _KW, "C")},
        "out_backprop": _IMAGE, "ksizes": _WINDOW_4, "strides|rates": _ONES_4,
    }),
    (r"raw_ops\..*(?:FusedBatchNorm|BatchNormWith)", {
        "x|t|y_backprop|backprop|side_input": _IMAGE,
        "scale|offset|mean|variance|m|v|beta|gamma": {"shape": ("C",), "low": 0, "high": 1},
        "reserve_space_\\d": {"shape": ("C",), "low": 0, "high": 1},
        "data_format": {"allowed": (LiteralValue("NHWC"),)},
    }),
    (r"raw_ops\..*(?:Quantiz|Requantiz|FakeQuant)", {
        "min_\\w+|\\w*_min|min": {"ndim": (0, 0), "low": -2, "high": -1},
        "max_\\w+|\\w*_max|max": {"ndim": (0, 0), "low": 1, "high": 2},
    }),
    (r"raw_ops\..*PerChannel", {
        "inputs|gradients": {"shape": (Between(1, 4), "C")},
        "min": {"shape": ("C",), "low": -2, "high": -1}, "max": {"shape": ("C",), "low": 1, "high": 2},
    }),
    (r"raw_ops\.(?:Sparse)?(?:Unsorted)?Segment|raw_ops\.SparseSegment", {
        "data": {"ndim": (1, 3)},
        "indices": {"shape": ("nnz",), "low": 0, "high": 0},
        "segment_ids": {"shape": ("nnz",), "low": 0, "high": 2, "increasing": True},
        "num_segments|output_dim0": {"ndim": (0, 0), "low": 3, "high": 5},
    }),
    (r"raw_ops\.Segment(?:Max|Mean|Min|Prod|Sum)(?:V2)?$", {
        "data": {"shape": ("nnz", Between(1, 4))},
    }),
    (r"raw_ops\.UnsortedSegment", {
        "data": {"shape": ("nnz", Between(1, 4))}, "segment_ids": {"shape": ("nnz",), "low": 0, "high": 2},
    }),
    (r"raw_ops\.(?:Batch)?MatMul", {
        "a|x": {"shape": ("M", "M")}, "b|y": {"shape": ("M", "M")},
    }),
    (r"raw_ops\.(?:Batch)?(?:Cholesky|Matrix(?:Inverse|Determinant|Exponential|Logarithm|SquareRoot)|"
     r"LogMatrixDeterminant|Lu|SelfAdjointEig|Eig|Svd|Qr)", {
        "input|l|grad|matrix": {"shape": ("M", "M")},
    }),
    (r"raw_ops\.(?:Batch)?(?:MatrixSolve|MatrixTriangularSolve|BandedTriangularSolve)", {
        "matrix": {"shape": ("M", "M")}, "rhs": {"shape": ("M", "K")}, "l2_regularizer": _SCALAR,
    }),
    (r"raw_ops\.(?:Batch)?MatrixDiag|raw_ops\.MatrixSetDiag|raw_ops\.MatrixBandPart", {
        "k|num_rows|num_cols|padding_value|num_lower|num_upper": {"ndim": (0, 0), "low": -1, "high": 0},
        "diagonal": {"ndim": (1, 2)}, "input": {"shape": ("M", "M")},
    }),
    (r"raw_ops\.(?:I?R?FFT|.*FFT)", {"fft_length": {"shape": (1,), "low": 1, "high": 4}}),
    (r"raw_ops\.(?:I?RFFT|Batch.*FFT|.*FFT)2D", {
        "input": {"ndim": (2, 3)}, "fft_length": {"shape": (2,), "low": 1, "high": 4}}),
    (r"raw_ops\.(?:I?RFFT|Batch.*FFT|.*FFT)3D", {
        "input": {"ndim": (3, 4)}, "fft_length": {"shape": (3,), "low": 1, "high": 4}}),
    (r"raw_ops\.(?:Sum|Prod|Mean|Max|Min|All|Any|EuclideanNorm)$|raw_ops\.(?:Reverse|Roll|Cumsum|"
     r"Cumprod|CumulativeLogsumexp|ExpandDims|Arg(?:Max|Min)|Unpack|Pack)", {
        "axis|dims?|dimension|reduction_indices|dim": {"ndim": (0, 0), "axis_of": LEAD},
        "shift": {"ndim": (0, 0), "low": -2, "high": 2},
    }),
    (r"raw_ops\.ReverseV2|raw_ops\.Sparse(?:Reduce)", {"axis|reduction_axes": {"shape": (1,), "axis_of": LEAD}}),
    (r"raw_ops\.Reverse$", {"dims": {"shape": (RankOf(LEAD),)}}),
    (r"raw_ops\.(?:Concat|ConcatV2)$", {
        "axis|concat_dim": {"ndim": (0, 0), "axis_of": "values"}, "values": {"length": (2, 3), "ndim": (1, 4)}}),
    (r"raw_ops\.(?:Conjugate)?Transpose$", {"perm": {"shape": (RankOf("x"),), "axis_of": "x"}}),
    (r"raw_ops\.Invert", {"x": {"ndim": (1, 1), "axis_of": "x"}}),
    (r"raw_ops\.(?:MirrorPad|Pad)(?:V2|Grad)?$", {
        "paddings": {"shape": (RankOf("input"), 2), "low": 0, "high": 0}, "constant_values": _SCALAR}),
    (r"raw_ops\.Tile", {"multiples": {"shape": (RankOf("input"),), "low": 1, "high": 3}}),
    (r"raw_ops\.(?:StridedSlice|Slice|TensorStridedSlice|ResourceStridedSlice)", {
        "begin": {"shape": (RankOf("input"),), "low": 0, "high": 0},
        "end": {"shape": (RankOf("input"),), "low": 1, "high": 1},
        "size|strides": {"shape": (RankOf("input"),), "low": 1, "high": 1},
        "input": {"ndim": (1, 4)},
    }),
    (r"raw_ops\.(?:Fill|BroadcastTo|Empty|Reshape|TruncatedNormal|Random\w+|Stateless\w+|"
     r"Parameterized\w+|TensorListReserve|EmptyTensorList|PlaceholderWithDefault)", {
        "shape|dims": {"ndim": (1, 1), "low": 1, "high": 4},
        "seed": {"shape": (2,), "low": 0, "high": 9}, "key": {"shape": (1,), "low": 0, "high": 9},
        "counter": {"shape": (2,), "low": 0, "high": 9}, "alg": {"ndim": (0, 0), "low": 1, "high": 2},
        "minval": {"ndim": (0, 0), "low": 0, "high": 1}, "maxval": {"ndim": (0, 0), "low": 2, "high": 4},
        "value|means|stdevs": _SCALAR, "counts": {"low": 1, "high": 4}, "probs": {"low": 0, "high": 1},
        "lam|alpha": {"low": 0, "high": 3}, "logits": {"shape": ("N", "C")},
        "num_samples": {"ndim": (0, 0), "low": 1, "high": 4},
    }),
    (r"raw_ops\.(?:Gather|GatherV2|ResourceGather)$", {
        "params": {"ndim": (1, 4)}, "axis": {"ndim": (0, 0), "low": 0, "high": 0},
        "indices": {"index_of": "params", "ndim": (0, 2)}, "batch_dims": {"low": 0, "high": 0},
    }),
    (r"raw_ops\.(?:GatherNd|ScatterNd|TensorScatter)", {
        "params|tensor": {"shape": (4, Between(1, 4))}, "indices": {"shape": ("n", 1), "low": 0, "high": 3},
        "updates": {"shape": ("n", 4)}, "shape": {"shape": (2,), "low": 4, "high": 4},
    }),
    (r"raw_ops\.TensorScatter", {"tensor": {"shape": (4, 4)}}),
    (r"raw_ops\.(?:Split|SplitV)$", {
        "axis|split_dim": {"ndim": (0, 0), "low": 0, "high": 0}, "num_split": {"low": 1, "high": 2},
        "value": {"shape": (4, Between(1, 4))}, "size_splits": {"shape": (2,), "low": 2, "high": 2},
    }),
    (r"raw_ops\.(?:SpaceToBatch|BatchToSpace)", {
        "input": {"shape": (4, 4, 4, "C")}, "block_shape": {"shape": (2,), "low": 2, "high": 2},
        "crops|paddings": {"shape": (2, 2), "low": 0, "high": 0}, "block_size": {"low": 2, "high": 2},
    }),
    (r"raw_ops\.(?:SpaceToDepth|DepthToSpace)", {
        "input": {"shape": ("N", 4, 4, 4)}, "block_size": {"low": 2, "high": 2},
        "data_format": {"allowed": (LiteralValue("NHWC"),)},
    }),
    (r"raw_ops\.(?:BiasAdd)", {"value|out_backprop": {"shape": ("N", "C")}, "bias": {"shape": ("C",)}}),
    (r"raw_ops\.BiasAddGrad", {"out_backprop": {"ndim": (2, 5)}}),
    (r"raw_ops\.(?:Sparse)?SoftmaxCrossEntropy", {
        "features": {"shape": ("N", "C")}, "labels": {"shape": ("N", "C")}}),
    (r"raw_ops\.SparseSoftmaxCrossEntropy", {"labels": {"shape": ("N",), "low": 0, "high": 0}}),
    (r"raw_ops\.(?:InTopK|TopK|NthElement)", {
        "predictions|input": {"shape": ("N", Between(3, 5))}, "targets": {"shape": ("N",), "low": 0, "high": 2},
        "k|n": {"ndim": (0, 0), "low": 1, "high": 2},
    }),
    (r"raw_ops\..*NonMaxSuppression", {
        "boxes": {"shape": ("B", 4), "low": 0, "high": 1}, "scores": {"shape": ("B",), "low": 0, "high": 1},
        "max_output_size": {"ndim": (0, 0), "low": 1, "high": 4}, "\\w*threshold|soft_nms_sigma": {
            "ndim": (0, 0), "low": 0, "high": 1}, "overlaps": {"shape": ("B", "B")},
    }),
    (r"raw_ops\.CombinedNonMaxSuppression", {
        "boxes": {"shape": ("N", "B", 1, 4), "low": 0, "high": 1}, "scores": {"shape": ("N", "B", 2)},
        "max_output_size_per_class|max_total_size": {"ndim": (0, 0), "low": 1, "high": 4}}),
    (r"raw_ops\.CropAndResize", {
        "image|grads": _IMAGE, "boxes": {"shape": ("B", 4), "low": 0, "high": 1},
        "box_ind": {"shape": ("B",), "low": 0, "high": 0}, "crop_size": {"shape": (2,), "low": 1, "high": 4},
        "image_size": {"shape": (4,), "low": 1, "high": 4},
    }),
    (r"raw_ops\.(?:Bincount|DenseBincount|RaggedBincount|SparseBincount)", {
        "size": {"ndim": (0, 0), "low": 4, "high": 8}, "arr|input|values": {"ndim": (1, 2), "low": 0, "high": 3},
        "weights": {"shape_of": LEAD}, "splits": {"ndim": (1, 1), "increasing": True, "low": 0, "high": 2},
    }),
    (r"raw_ops\.CTC", {
        "inputs": {"shape": (4, "N", 5)}, "sequence_length": {"shape": ("N",), "low": 1, "high": 4},
        "labels_indices": {"shape": ("nnz", 2), "low": 0, "high": 0},
        "labels_values": {"shape": ("nnz",), "low": 0, "high": 2},
        "beam_width|top_paths": {"low": 1, "high": 2},
    }),
    (r"raw_ops\.(?:RaggedTensor|RaggedGather|RaggedRange)", {
        "(?:\\w+_)?splits": {"increasing": True, "low": 0, "high": 2},
        "starts|limits|deltas": {"ndim": (0, 0), "low": 1, "high": 3},
    }),
    (r"raw_ops\.(?:Range|LinSpace)$", {
        "start": {"ndim": (0, 0), "low": 0, "high": 2}, "limit|stop": {"ndim": (0, 0), "low": 3, "high": 8},
        "delta|num": {"ndim": (0, 0), "low": 1, "high": 3},
    }),
    (r"raw_ops\.(?:LSTMBlockCell|BlockLSTM)", {
        "x": {"shape": ("N", "I")}, "cs_prev|h_prev": {"shape": ("N", 2)},
        "wci|wcf|wco": {"shape": (2,)}, "b": {"shape": (8,)},
    }),
    (r"raw_ops\.(?:Lower|Upper)Bound|raw_ops\.SearchSorted", {
        "sorted_inputs|values": {"shape": ("N", Between(1, 4))}}),
    (r"raw_ops\.(?:MatrixDiagPart)", {"input": {"ndim": (2, 4)}}),
    (r"raw_ops\.(?:AdjustContrast|AdjustHue|AdjustSaturation|RGBToHSV|HSVToRGB)", {
        "images": {"shape": (_H, _W, 3)}, "scale|delta|contrast_factor|min_value|max_value": {
            "ndim": (0, 0), "low": 0, "high": 1}}),
    (r"raw_ops\.Where$", {"condition|input": {"ndim": (1, 4)}}),
    (r"raw_ops\.(?:Select|SelectV2)$", {"condition": {"shape_of": ""}, "t|x": {}, "e|y": {}}),
    (r"raw_ops\..*(?:String|Decode|Encode|Parse|Bytes|Substr|Regex|Unicode)", {
        "pos|len": {"ndim": (0, 0), "low": 0, "high": 2}}),
    (r"raw_ops\..*(?:Sparse|Set(?:Size|To)|DenseTo.*Set|DenseToDense|Serialize)", {
        "(?:\\w+_)?(?:indices|indexes)\\d?": {"shape": ("nnz", 2), "low": 0, "high": 1},
        "(?:\\w+_)?values\\d?": {"shape": ("nnz",)},
        "(?:\\w+_)?(?:shape|dense_shape)\\d?": {"shape": (2,), "low": 4, "high": 4},
        "sparse_indices": {"shape": ("nnz", 2), "low": 0, "high": 1},
        "b|dense": {"shape": (4, 4)},
        "default_value": _SCALAR,
        "new_shape": {"shape": (1,), "low": 16, "high": 16},
    }),
)  # fmt: skip

TORCH: Table = (
    (r"torch\.(?:nn\.functional\.)?conv(?:_transpose)?1d|torch\.conv1d", {
        "input": {"shape": ("N", "C", Between(4, 8))}, "weight": {"shape": ("C", "C", _KW)},
        "bias": {"shape": ("C",)}, "groups": {"low": 1, "high": 1}}),
    (r"conv(?:_transpose)?2d", {
        "input": {"shape": ("N", "C", _H, _W)}, "weight": {"shape": ("C", "C", _KH, _KW)},
        "bias": {"shape": ("C",)}, "groups": {"low": 1, "high": 1}}),
    (r"conv(?:_transpose)?3d", {
        "input": {"shape": ("N", "C", _D, _H, _W)}, "weight": {"shape": ("C", "C", _KD, _KH, _KW)},
        "bias": {"shape": ("C",)}, "groups": {"low": 1, "high": 1}}),
    (r"(?:pool|pool_?with_indices|unpool)1d", {"input": {"shape": ("N", "C", Between(4, 8))}}),
    (r"(?:pool|pool_?with_indices|unpool)2d", {"input": {"shape": ("N", "C", _H, _W)}}),
    (r"(?:pool|pool_?with_indices|unpool)3d", {"input": {"shape": ("N", "C", _D, _H, _W)}}),
    (r"unpool|pool", {
        "kernel_size": {"low": 2, "high": 3}, "padding": {"low": 0, "high": 1},
        "output_size": {"low": 1, "high": 4}, "dilation": {"low": 1, "high": 1}}),
    (r"functional\.linear|^torch\.nn\.functional\.bilinear", {
        "input|input1": {"shape": ("N", "I")}, "weight": {"shape": ("O", "I")}, "bias": {"shape": ("O",)},
        "input2": {"shape": ("N", "I")}}),
    (r"torch\.(?:mm|smm|sspmm|hspmm)$|torch\.(?:sparse\.)?mm$", {
        "input|mat2|mat|mat1|sparse|dense": {"shape": ("M", "M")}}),
    (r"torch\.(?:add(?:mm|bmm)|baddbmm|bmm|addmv|addr|mv|dot|vdot|inner|ger|outer|matmul|chain_matmul)", {
        "mat1|mat2|mat": {"shape": ("M", "M")}, "vec|vec1|vec2": {"shape": ("M",)},
        "batch1|batch2": {"shape": ("B", "M", "M")}}),
    (r"torch\.bmm|torch\.baddbmm", {"input|mat2": {"shape": ("B", "M", "M")}}),
    (r"torch\.addbmm|torch\.addmm", {"input": {"shape": ("M", "M")}}),
    (r"torch\.(?:mv)$", {"input": {"shape": ("M", "M")}}),
    (r"torch\.(?:dot|vdot|ger|outer)$", {"input|other|tensor|vec2": {"shape": ("M",)}}),
    (r"torch\.(?:linalg\.|)(?:cholesky|inv|inverse|det|slogdet|logdet|eig|eigh|eigvals|eigvalsh|"
     r"matrix_power|matrix_exp|lu_factor|lu|ldl_factor|inv_ex|cholesky_ex|trace|lu_factor_ex|"
     r"ldl_factor_ex|cholesky_inverse|tensorinv)", {
        "input|A|self": {"shape": ("M", "M"), "dtypes": ("float32", "float64", "complex64")}}),
    (r"torch\.(?:linalg\.|)(?:solve|solve_ex|lstsq|triangular_solve|solve_triangular|cholesky_solve|lu_solve)", {
        "A|input2|L": {"shape": ("M", "M"), "dtypes": ("float32", "float64")},
        "B|input|b": {"shape": ("M", "K"), "dtypes": ("float32", "float64")}}),
    (r"torch\.(?:linalg\.|fft\.|special\.)", {
        "input|A|self|x": {"dtypes": ("float32", "float64", "complex64")}}),
    (r"torch\.(?:gather|take_along_dim|scatter\w*|index_\w+)", {
        "index|indices": {"dtypes": ("int64",), "low": 0, "high": 0, "shape_of": LEAD},
        "src|source": {"shape_of": LEAD}}),
    (r"torch\.index_", {"index": {"dtypes": ("int64",), "shape": (Between(1, 3),), "low": 0, "high": 0}}),
    (r"functional\.(?:embedding|embedding_bag)", {
        "input": {"dtypes": ("int64",), "low": 0, "high": 3, "ndim": (1, 2)},
        "weight": {"shape": (4, "E"), "dtypes": ("float32",)}, "padding_idx": {"low": 0, "high": 3}}),
    (r"functional\.(?:\w*loss|binary_cross\w*|kl_div)", {
        "input": {"dtypes": ("float32", "float64"), "low": 0, "high": 1},
        "target": {"shape_of": "input", "dtype_of": "input", "low": 0, "high": 1}, "weight": {"shape_of": "input"}}),
    (r"functional\.(?:nll_loss|cross_entropy|multi_margin_loss)", {
        "input": {"shape": ("N", 4), "dtypes": ("float32",)},
        "target": {"shape": ("N",), "dtypes": ("int64",), "low": 0, "high": 3}, "weight": {"shape": (4,), "dtypes": ("float32",)}}),
    (r"torch\.nn\.functional\.", {"input": {"dtypes": ("float32", "float64", "float32", "int64")}}),
    (r"functional\.(?:batch_norm|instance_norm)", {
        "input": {"shape": ("N", "C", _H, _W), "dtypes": ("float32",)},
        "running_mean|running_var|weight|bias": {"shape": ("C",), "dtypes": ("float32",), "low": 0, "high": 1}}),
    (r"torch\.(?:permute|transpose|movedim|moveaxis|swapaxes|swapdims)", {
        "dims": {"axis_of": LEAD, "length_of": LEAD}}),
    (r"torch\.(?:bitwise_\w+|gcd|lcm)", {"input|other|self": {"dtypes": ("int64", "int32", "bool", "uint8")}}),
    (r"torch\.(?:bernoulli|binomial|normal|poisson|multinomial)", {"input|prob|mean|std": {"low": 0, "high": 1}}),
    (r"torch\.(?:histc|bincount|bucketize|searchsorted)", {"boundaries|sorted_sequence": {"ndim": (1, 1), "increasing": True}}),
    (r"torch\.bincount", {"input": {"ndim": (1, 1), "dtypes": ("int64",), "low": 0, "high": 5}}),
    (r"torch\.(?:quantize_per|fake_quantize)", {
        "scale": {"low": 1, "high": 1}, "zero_point": {"low": 0, "high": 0}}),
    (r"pixel_(?:un)?shuffle", {
        "input": {"shape": ("N", 4, 4, 4)}, "\\w*scale_factor": {"low": 2, "high": 2}}),
    (r"torch\.nn\.\w+$", {
        "num_heads|nhead": {"allowed": (LiteralValue(1),)}, "groups|num_groups": {"allowed": (LiteralValue(1),)},
        "in_channels": {"size": "in_channels"}, "in_features": {"size": "in_features"},
        "num_features": {"size": "num_features"}, "input_size": {"size": "input_size"},
        "embed_dim": {"size": "embed_dim"}, "d_model": {"size": "d_model"}, "num_channels": {"size": "num_channels"},
        "in1_features": {"size": "in1_features"}, "in2_features": {"size": "in2_features"},
        "padding": {"low": 0, "high": 1}, "kernel_size": {"low": 1, "high": 3},
        "p|dropout": {"low": 0, "high": 1}}),
)  # fmt: skip

RULES: Table = (*TENSORFLOW, *TORCH)
