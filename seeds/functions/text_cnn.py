"""A convolutional network that classifies sentences.

Kim: Convolutional neural networks for sentence classification, 2014.
"""

import keras
from keras import layers

from ciguard.annotations import anys, arg, floats, froms, int_lists, ints


@arg("vocabulary", ints(min=2, max=200))
@arg("length", ints(min=6, max=20))
@arg("embedding", ints(min=1, max=16))
@arg("sizes", int_lists(min_len=1, max_len=3, min=1, max=5))
@arg("filters", ints(min=1, max=8))
@arg("dropout", floats(min=0, max=0.9))
@arg("classes", ints(min=2, max=5))
@arg("static", froms([True, False, "both"]))
def build_text_cnn(
    vocabulary,
    length,
    embedding=8,
    sizes=(3, 4, 5),
    filters=8,
    dropout=0.5,
    classes=2,
    static=False,
):
    """Build the model; its embedding is fixed, trained, or both side by side."""
    words = keras.Input((length,), dtype="int32")
    if static == "both":
        x = keras.layers.merge(
            [
                layers.Embedding(vocabulary, embedding, trainable=trained)(words)
                for trained in (True, False)
            ],
            mode="concat",
        )
    else:
        x = layers.Embedding(vocabulary, embedding, trainable=not static)(words)
    found = []
    for size in sizes:
        branch = layers.Conv1D(filters, size, activation="relu")(x)
        found.append(layers.GlobalMaxPooling1D()(branch))
    x = layers.Concatenate()(found)
    x = layers.Dropout(dropout)(x)
    return keras.Model(words, layers.Dense(classes, activation="softmax")(x), name="text_cnn")


@arg("units", int_lists(min_len=1, max_len=3, min=1, max=16))
@arg("rate", floats(min=1e-5, max=0.1))
@arg("optimizer", froms(["sgd", "adam", "momentum"]))
@arg("decay", anys(None, floats(min=1e-6, max=1e-2)))
def build_classifier(units, rate=0.01, optimizer="adam", decay=None):
    """Build and compile a network of dense layers for ten features and two classes."""
    model = keras.Sequential([keras.Input((10,))])
    for width in units:
        model.add(layers.Dense(width, activation="relu"))
    model.add(layers.Dense(1, activation="sigmoid"))
    if decay is not None:
        rate = keras.optimizers.schedules.InverseTimeDecay(rate, 1, decay)
    if optimizer == "adam":
        chosen = keras.optimizers.Adam(rate)
    elif optimizer == "momentum":
        chosen = keras.optimizers.SGD(lr=rate, momentum=0.9, nesterov=True)
    else:
        chosen = keras.optimizers.SGD(rate)
    model.compile(chosen, loss="binary_crossentropy", metrics=["accuracy"])
    return model
