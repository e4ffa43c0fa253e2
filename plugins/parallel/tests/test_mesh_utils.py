"""Grids of devices."""

import pytest

import bindax_core
from bindax_parallel.mesh_utils import create_device_mesh


def test_devices_are_arranged_in_the_shape_that_is_asked_for():
    devices = bindax_core.devices()[:1]
    assert create_device_mesh((1, 1), devices).shape == (1, 1)
    assert create_device_mesh([], devices).shape == ()
    assert create_device_mesh((2, 3), range(6)).tolist() == [[0, 1, 2], [3, 4, 5]]
    every = bindax_core.devices()
    assert create_device_mesh((len(every),)).tolist() == every


def test_a_shape_of_another_size_is_refused():
    with pytest.raises(ValueError, match=r"mesh_shape=\(3,\) takes 3 devices, but there are 1"):
        create_device_mesh((3,), bindax_core.devices()[:1])
