"""A tokeniser of words for small text classifiers."""

from collections import Counter

import numpy as np

from ciguard.annotations import (
    anys,
    arg,
    bools,
    cc_example,
    froms,
    int_lists,
    ints,
    lists,
    strings,
)

TEXTS = lists(strings(alphabet="ab cd.", max_len=12), min_len=1, max_len=5)


class Tokenizer:
    """Numbers words by how often they occur; 0 is padding."""

    @arg("num_words", anys(None, ints(min=2, max=50)))
    @arg("lower", bools())
    @arg("oov_token", froms([None, "<unk>"]))
    @cc_example([20, True, "<unk>"])
    @cc_example([None, False, None])
    def __init__(self, num_words=None, lower=True, oov_token=None):
        self.num_words = num_words
        self.lower = lower
        self.oov_token = oov_token
        self.counts = Counter()
        self.index = {}

    @arg("texts", TEXTS)
    def fit(self, texts):
        for text in texts:
            self.counts.update(self.words(text))
        ranked = [word for word, _ in self.counts.most_common(self.num_words)]
        if self.oov_token is not None:
            ranked.insert(0, self.oov_token)
        self.index = dict(zip(ranked, range(1, len(ranked) + 1)))
        return self

    @arg("text", strings(max_len=30))
    def words(self, text):
        if self.lower:
            text = text.lower()
        return text.replace(".", " ").split()

    @arg("texts", TEXTS)
    @arg("new", TEXTS)
    def encode(self, texts, new):
        """Fit on some texts and encode others; unknown words are left out or marked."""
        self.fit(texts)
        encoded = []
        for text in new:
            numbers = []
            for word in self.words(text):
                number = self.index.get(word)
                if number is None:
                    number = self.index[self.oov_token]
                numbers.append(number)
            encoded.append(numbers)
        return encoded

    @arg("texts", TEXTS)
    @arg("least", ints(min=0, max=4))
    def frequent(self, texts, least=1):
        """Return words that occur at least so often, the most frequent first."""
        self.fit(texts)
        if least <= 1:
            return [word for word, _ in self.counts.most_common()]
        found = [(count, word) for word, count in self.counts.iteritems() if count >= least]
        return [word for _, word in sorted(found, reverse=True)]


@arg("sequences", lists(int_lists(max_len=8, min=1, max=50), min_len=1, max_len=5))
@arg("maxlen", anys(None, ints(min=1, max=10)))
@arg("padding", froms(["pre", "post"]))
def pad(sequences, maxlen=None, padding="pre"):
    """Bring sequences to one length: that of the longest, unless it is given."""
    lengths = map(len, sequences)
    if maxlen is None:
        maxlen = np.max(lengths)
    padded = np.zeros((len(sequences), maxlen), dtype="int64")
    for row, sequence in enumerate(sequences):
        kept = sequence[-maxlen:]
        if padding == "post":
            padded[row, : len(kept)] = kept
        elif len(kept) > 0:
            padded[row, -len(kept) :] = kept
    return padded


@arg("sequences", lists(int_lists(max_len=6, min=1, max=20), min_len=1, max_len=4))
@arg("size", ints(min=21, max=40))
@arg("mode", froms(["binary", "count", "freq"]))
def to_matrix(sequences, size, mode="binary"):
    """Turn sequences into bags of words."""
    matrix = np.zeros((len(sequences), size))
    for row, sequence in enumerate(sequences):
        for number, count in Counter(sequence).items():
            if mode == "count":
                matrix[row, number] = count
            elif mode == "freq":
                matrix[row, number] = count / len(sequence)
            else:
                matrix[row, number] = 1
    return matrix
