"""The programs of ``guide``, as they are, and with their imports changed."""

from pathlib import Path

import numpy as np

GUIDE = Path(__file__).with_name("guide")
PROGRAMS = ("basics", "digits", "layers", "parts", "surgery")
MODELS = ("dqn", "gan", "gpt", "vae", "vit")
IMPORTS = {
    "import jax\n": "import bindax as jax\n",
    "import jax.numpy as jnp\n": "import bindax.numpy as jnp\n",
    "import optax\n": "from bindax import optimizers as optax\n",
    "from flax import nnx\n": "from bindax import nnx\n",
}


def run(name, imports):
    """The results of a program, by name, after its lines of imports were replaced."""
    path = GUIDE / f"{name}.py"
    text = path.read_text(encoding="utf-8")
    for theirs, ours in imports.items():
        text = text.replace(theirs, ours)
    names = {"__name__": name}
    exec(compile(text, str(path), "exec"), names)
    return {key: np.asarray(value) for key, value in names["main"]().items()}
