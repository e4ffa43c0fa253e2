"""Changes of an image with dm_pix, compiled and in a batch."""

import dm_pix as pix
import jax
import jax.numpy as jnp


def main():
    image = jnp.linspace(0, 1, 8 * 8 * 3).reshape(8, 8, 3)
    key = jax.random.PRNGKey(0)
    batch = jnp.stack([image, 1 - image])
    return (
        pix.flip_left_right(image)[0],
        jax.jit(pix.rgb_to_hsv)(image)[2],
        jax.vmap(lambda x: pix.adjust_contrast(x, 0.5))(batch)[:, 3],
        pix.gaussian_blur(image, 1.0, 3)[4],
        pix.random_brightness(key, image, 0.2)[5],
        pix.psnr(image, image * 0.9),
        pix.ssim(batch, batch * 0.8, filter_size=3),
        pix.rotate(image, 0.3)[4],
    )
