"""Sentences of different lengths as batches of tensors."""

import torch
from torch.utils.data import Dataset

from ciguard.annotations import (
    anys,
    arg,
    cc_example,
    exclude,
    froms,
    generator,
    int_lists,
    ints,
    lists,
    objs,
    tuples,
)

NUMBERS = int_lists(min_len=1, max_len=8, min=1, max=30)


class Sentences(Dataset):
    """Sentences as lists of numbers, with or without a label for each."""

    @arg("sentences", lists(NUMBERS, min_len=1, max_len=5))
    @arg("labels", froms([None]))
    @arg("longest", anys(None, ints(min=1, max=8)))
    @cc_example([[[4, 2, 8], [7], [1, 5, 9]], [0, 1, 0], 2])
    @cc_example([[[4, 2, 8], [7], [1, 5, 9]], None, None])
    def __init__(self, sentences, labels=None, longest=None):
        self.sentences = sentences
        self.labels = labels
        self.longest = longest

    def __len__(self):
        return len(self.sentences)

    @arg("index", ints(min=0, max=2))
    def __getitem__(self, index):
        numbers = torch.tensor(self.sentences[index][: self.longest])
        if self.labels is None:
            return numbers
        return numbers, self.labels[index]

    @arg("size", ints(min=1, max=4))
    def batches(self, size=2):
        """Yield padded batches, with labels where there are any."""
        for start in range(0, len(self), size):
            samples = [self[index] for index in range(start, min(start + size, len(self)))]
            sentences, labels = zip(*samples)
            yield collate(list(sentences)), labels


@generator
@exclude
@arg("numbers", lists(NUMBERS, min_len=1, max_len=4))
def sentence_tensors(numbers):
    return [torch.tensor(sentence) for sentence in numbers]


@arg("sentences", objs(sentence_tensors))
@arg("value", ints(min=0, max=3))
@arg("side", froms(["left", "right"]))
def collate(sentences, value=0, side="right"):
    """Pad sentences to the length of the longest, (batch, time)."""
    longest = max(len(sentence) for sentence in sentences)
    batch = torch.full((len(sentences), longest), value)
    for row, sentence in enumerate(sentences):
        if side == "left":
            batch[row, -len(sentence) - 1 :] = sentence
        else:
            batch[row, : len(sentence)] = sentence
    return batch


@arg("pairs", lists(tuples(ints(min=1, max=30), ints(min=0, max=4)), min_len=1, max_len=6))
def by_label(pairs):
    """Group numbers by their label."""
    groups = {}
    for number, label in pairs:
        groups.setdefault(label, []).append(number)
    return groups
