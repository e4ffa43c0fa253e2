"""Arrays of other libraries and devices, by DLPack."""

from __future__ import annotations

import numpy as np
import pytest

import bindax_numpy as jnp
from bindax_transforms import jit

X = np.arange(6, dtype=np.float32).reshape(2, 3)


class OnDevice:
    """An array as a library for accelerators offers it: its device is 2, CUDA."""

    def __dlpack_device__(self):
        return (2, 0)

    def __dlpack__(self, *, dl_device=None, copy=None, **options):
        if dl_device != (1, 0) or copy is False:
            raise BufferError("the memory is on a GPU")
        return X.copy().__dlpack__(**options)


@pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < "2.1.0", reason="NumPy asks for no device before 2.1"
)
def test_an_array_on_a_device_is_copied_to_the_host():
    np.testing.assert_array_equal(jnp.from_dlpack(OnDevice()), X)


def test_pytorch():
    torch = pytest.importorskip("torch")
    ours = jit(lambda x: x * 2)(X)
    theirs = torch.from_dlpack(ours)
    np.testing.assert_array_equal(theirs.numpy(), 2 * X)
    theirs += 1
    np.testing.assert_array_equal(np.asarray(ours), 2 * X)  # it was copied
    back = jnp.from_dlpack(theirs)
    np.testing.assert_array_equal(np.asarray(back), 2 * X + 1)
