"""A model of keras that is trained on its backend for JAX."""

import os

os.environ["KERAS_BACKEND"] = "jax"

import keras
import numpy as np


def main():
    keras.utils.set_random_seed(3)
    rng = np.random.default_rng(0)
    x = rng.normal(size=(64, 8, 8, 1)).astype("float32")
    y = (x.mean((1, 2, 3)) > 0).astype("int32")
    model = keras.Sequential(
        [
            keras.layers.Input((8, 8, 1)),
            keras.layers.Conv2D(4, 3, activation="relu"),
            keras.layers.BatchNormalization(),
            keras.layers.MaxPooling2D(),
            keras.layers.Flatten(),
            keras.layers.Dropout(0.1),
            keras.layers.Dense(2),
        ]
    )
    model.compile(
        optimizer=keras.optimizers.Adam(1e-2),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    history = model.fit(x, y, batch_size=16, epochs=3, shuffle=False, verbose=0)
    evaluated = model.evaluate(x, y, verbose=0)
    return (
        history.history["loss"],
        history.history["accuracy"],
        evaluated,
        model.predict(x[:2], verbose=0),
    )
