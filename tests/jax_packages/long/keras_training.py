"""A convolutional network of keras, trained on the digits of scikit-learn, saved and loaded."""

import os

os.environ["KERAS_BACKEND"] = "jax"

import keras
import numpy as np
from keras import layers, ops
from sklearn.datasets import load_digits

NAMES = ("loss", "accuracy", "top_2", "confidence")


@keras.saving.register_keras_serializable(package="digits")
class Scale(layers.Layer):
    """Multiplies each channel by a weight."""

    def build(self, shape):
        self.factor = self.add_weight(
            name="factor", shape=(shape[-1],), initializer="ones", regularizer="l2"
        )

    def call(self, x):
        return x * self.factor


@keras.saving.register_keras_serializable(package="digits")
class Confidence(keras.metrics.Metric):
    """The mean probability of the class that is right."""

    def __init__(self, name="confidence", **options):
        super().__init__(name=name, **options)
        self.total = self.add_variable(shape=(), initializer="zeros", name="total")
        self.count = self.add_variable(shape=(), initializer="zeros", name="count")

    def update_state(self, y, logits, sample_weight=None):
        chosen = ops.take_along_axis(ops.softmax(logits), ops.cast(y, "int32")[:, None], axis=1)
        self.total.assign_add(ops.sum(chosen))
        self.count.assign_add(ops.cast(ops.size(y), "float32"))

    def result(self):
        return self.total / (self.count + 1e-7)


class Report(keras.callbacks.Callback):
    """Prints a line for each epoch, and one for each third batch of the first."""

    def on_epoch_begin(self, epoch, logs=None):
        self.first = epoch == 0
        rate = float(ops.convert_to_numpy(self.model.optimizer.learning_rate))
        print(f"epoch {epoch} begins, learning rate {rate:.6f}")

    def on_train_batch_end(self, batch, logs=None):
        if self.first and batch % 3 == 0:
            print(f"  batch {batch}: " + ", ".join(f"{k} {v:.5f}" for k, v in logs.items()))

    def on_epoch_end(self, epoch, logs=None):
        print(f"epoch {epoch}: " + ", ".join(f"{k} {logs[k]:.5f}" for k in sorted(logs)))

    def on_train_end(self, logs=None):
        print("training ends after step", int(self.model.optimizer.iterations.value))


def build():
    """The model, uncompiled: two paths of convolutions, joined."""
    images = keras.Input((8, 8, 1), name="images")
    x = layers.Rescaling(1 / 16)(images)
    x = layers.RandomTranslation(0.05, 0.05, fill_mode="constant", seed=5)(x)
    x = layers.Conv2D(8, 3, padding="same", use_bias=False, name="wide")(x)
    x = layers.BatchNormalization(name="norm")(x)
    x = layers.Activation("gelu")(x)
    left = layers.SeparableConv2D(8, 3, padding="same", activation="relu", name="left")(x)
    right = layers.Conv2D(8, 1, activation="swish", name="right")(x)
    x = Scale(name="scale")(layers.Concatenate()([left, right]))
    x = layers.MaxPooling2D()(x)
    x = layers.SpatialDropout2D(0.1, seed=6)(x)
    x = layers.Flatten()(x)
    x = layers.Dropout(0.2, seed=7)(layers.Dense(24, activation="relu", name="hidden")(x))
    return keras.Model(images, layers.Dense(10, name="logits")(x), name="digits")


def compile_model(model):
    schedule = keras.optimizers.schedules.CosineDecay(5e-3, decay_steps=80, warmup_steps=8)
    model.compile(
        optimizer=keras.optimizers.AdamW(schedule, weight_decay=1e-3, clipnorm=1.0),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=[
            "accuracy",
            keras.metrics.SparseTopKCategoricalAccuracy(k=2, name="top_2"),
            Confidence(),
        ],
    )


def show_evaluation(title, model, x, y):
    scores = model.evaluate(x, y, batch_size=64, verbose=0, return_dict=True)
    print(title, ", ".join(f"{name} {scores[name]:.5f}" for name in NAMES))


def main():
    keras.utils.set_random_seed(11)
    data = load_digits()
    x, y = data.images[:768, :, :, None].astype("float32"), data.target[:768].astype("int32")
    x_test, y_test = data.images[800:992, :, :, None].astype("float32"), data.target[800:992]
    print("backend", keras.backend.backend(), "images", x.shape, "classes", np.bincount(y))

    model = build()
    model.summary()
    for layer in model.layers:
        print(f"{layer.name}: {type(layer).__name__}, {layer.count_params()} parameters")
    compile_model(model)
    history = model.fit(
        x,
        y,
        batch_size=64,
        epochs=6,
        validation_split=1 / 6,
        class_weight={n: 1.0 + 0.1 * (n == 8) for n in range(10)},
        verbose=0,
        callbacks=[
            Report(),
            keras.callbacks.EarlyStopping("val_loss", patience=3, restore_best_weights=True),
            keras.callbacks.ModelCheckpoint("best.keras", "val_accuracy", save_best_only=True),
            keras.callbacks.CSVLogger("log.csv"),
        ],
    )
    print("history", sorted(history.history), "epochs", history.epoch)
    with open("log.csv") as log:
        print(log.read())
    show_evaluation("test:", model, x_test, y_test)
    for weight in model.trainable_weights:
        value = ops.convert_to_numpy(weight)
        print(f"{weight.path} {weight.shape} {weight.dtype} norm {np.linalg.norm(value):.5f}")
    for weight in model.non_trainable_weights:
        print(f"{weight.path} {tuple(weight.shape)} {weight.dtype}")

    logits = model.predict(x_test, batch_size=64, verbose=0)
    print("logits", logits.shape, logits.dtype)
    print(np.array2string(logits[:4], precision=4, suppress_small=True))
    predicted = logits.argmax(1)
    table = np.zeros((10, 10), int)
    np.add.at(table, (y_test, predicted), 1)
    print("confusion\n", table)
    inner = keras.Model(model.input, model.get_layer("hidden").output)
    print("hidden units", np.round(inner(x_test[:2])[0][:6], 4))

    model.save("digits.keras")
    loaded = keras.saving.load_model("digits.keras")
    show_evaluation("loaded:", loaded, x_test, y_test)
    print(
        "same logits",
        bool(np.array_equal(loaded.predict(x_test, batch_size=64, verbose=0), logits)),
    )
    loaded.fit(x, y, batch_size=64, epochs=1, verbose=0, callbacks=[Report()])
    show_evaluation("trained on:", loaded, x_test, y_test)
    model.save_weights("digits.weights.h5")
    other = keras.Model.from_config(model.get_config())
    compile_model(other)
    other.load_weights("digits.weights.h5")
    show_evaluation("weights alone:", other, x_test, y_test)
    best = keras.saving.load_model("best.keras")
    show_evaluation("best:", best, x_test, y_test)
    try:
        model(np.zeros((2, 3, 3, 1), "float32"))
    except ValueError as error:
        print(type(error).__name__, str(error).splitlines()[0])


if __name__ == "__main__":
    main()
