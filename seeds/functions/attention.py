"""Multi-head attention and what goes with it.

Vaswani et al.: Attention is all you need, 2017.
"""

import math

import torch
from torch import nn

from ciguard.annotations import anys, arg, bools, cc_example, floats, ints, ref, require, tensors


class MultiHeadAttention(nn.Module):
    @arg("d_model", ints(min=1, max=24))
    @arg("heads", ints(min=1, max=4))
    @arg("dropout", floats(min=0, max=0.9))
    @require("d_model % heads == 0")
    @cc_example([8, 2, 0.1])
    @cc_example([8, 1, 0.0])
    def __init__(self, d_model, heads, dropout=0.1):
        super().__init__()
        assert d_model % heads == 0, "d_model must be divisible by heads"
        self.d_model = d_model
        self.heads = heads
        self.d_head = d_model // heads
        self.project = nn.Linear(d_model, 3 * d_model)
        self.out = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    @arg("x", tensors("float32", (ints(1, 4), ints(1, 6), 8), min=-2, max=2))
    @arg("padded", anys(None, tensors("bool", (ref("x.shape[0]"), ref("x.shape[1]")))))
    @arg("weights", bools())
    @require("padded is None or not padded.all(dim=1).any()")
    def forward(self, x, padded=None, weights=False):
        """Attend within each sequence of x, (batch, time, d_model), where it is not padded."""
        batch, time, _ = x.shape
        parts = self.project(x).view(batch, time, 3, self.heads, self.d_head)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        scores = query @ key.transpose(-2, -1) / math.sqrt(self.d_head)
        if padded is not None:
            scores = scores.masked_fill(padded, float("-inf"))
        attention = self.dropout(torch.softmax(scores, dim=-1))
        mixed = (attention @ value).transpose(1, 2).reshape(batch, time, self.d_model)
        if weights:
            return self.out(mixed), attention
        return self.out(mixed)


@arg("length", ints(min=1, max=30))
@arg("d_model", ints(min=1, max=32))
def positional_encoding(length, d_model):
    """Return sines and cosines of the positions, (length, d_model)."""
    position = torch.arange(length, dtype=torch.float32).unsqueeze(1)
    rates = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
    encoding = torch.zeros(length, d_model)
    encoding[:, 0::2] = torch.sin(position * rates)
    encoding[:, 1::2] = torch.cos(position * rates)
    return encoding


@arg("length", ints(min=1, max=20))
@arg("window", anys(None, ints(min=1, max=20)))
def causal_mask(length, window=None):
    """Return what each position may not see: the future, and what is too long ago."""
    mask = torch.triu(torch.ones(length, length), diagonal=1).bool()
    if window is not None:
        mask |= torch.tril(torch.ones(length, length), diagonal=-window).bool()
    return mask


@arg("lengths", tensors("int64", (ints(1, 6),), min=1, max=9))
@arg("longest", anys(None, ints(min=9, max=12)))
def padding_mask(lengths, longest=None):
    """Return True where a sequence of that length has ended, (batch, longest)."""
    if longest is None:
        longest = int(lengths.max())
    return torch.arange(longest)[None, :] >= lengths[:, None]
