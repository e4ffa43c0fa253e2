"""Arrays and trees as treescope shows them."""

import jax.numpy as jnp
import treescope


def main():
    tree = {"w": jnp.arange(6.0).reshape(2, 3), "names": ["a", ("b", None)], "n": 3}
    text = treescope.render_to_text(tree, roundtrip_mode=False)
    page = treescope.render_to_html(tree)
    picture = treescope.render_array(jnp.eye(3), axis_labels={0: "row", 1: "column"})
    return text, "<treescope-run-here" in page or "treescope" in page, len(str(picture)) > 0
