"""What each process of ``test_distributed`` runs: it fails where something is not as it must be."""

import os
import sys

import numpy as np
import pytest

import bindax
import bindax.numpy as bnp
from bindax import lax, nnx
from bindax.experimental import multihost_utils
from bindax.sharding import AxisType, NamedSharding
from bindax.sharding import PartitionSpec as P


def join(**options):
    count, me = int(os.environ["PROCESSES"]), int(os.environ["PROCESS"])
    address = os.environ["COORDINATOR"]
    options = {"initialization_timeout": 60, "heartbeat_timeout_seconds": 20, **options}
    if not bindax.distributed.is_initialized():
        bindax.distributed.initialize(address, count, me, **options)
    return count, me


def values(folder):
    """Arrays, programs and files over all processes."""
    count, me = join(local_device_ids=[0, 1])
    assert (bindax.process_count(), bindax.process_index()) == (count, me)
    assert (bindax.device_count(), bindax.local_device_count()) == (2 * count, 2)
    assert [d.process_index for d in bindax.local_devices(1)] == [1, 1]
    mesh = bindax.make_mesh((count, 2), ("process", "device"))
    whole = np.arange(8.0 * count).reshape(2 * count, 4)
    rows = NamedSharding(mesh, P(("process", "device")))
    x = bindax.make_array_from_process_local_data(rows, whole[2 * me : 2 * me + 2])
    assert x.shape == whole.shape
    assert not x.is_fully_addressable
    assert [s.data.device for s in x.addressable_shards] == bindax.local_devices()
    with pytest.raises(bindax.errors.BackendError, match="parts on devices of other processes"):
        np.asarray(x)
    assert "float64" in repr(x)  # its type, and no values
    one = bindax.make_array_from_process_local_data(rows, np.ones((2, 1)))[:1, 0]
    assert float(one.sum()) == 1.0  # each process has all of it

    shares = bindax.shard_map(
        lambda x: x / lax.psum(x.sum(), ("process", "device")),
        mesh=mesh,
        in_specs=P(("process", "device")),
        out_specs=P(("process", "device")),
    )
    gathered = multihost_utils.process_allgather(bindax.jit(shares)(x))
    np.testing.assert_allclose(gathered, whole / whole.sum())
    exchange(count, me, mesh)
    store(folder, me, mesh, x, whole)


def exchange(count, me, mesh):
    tree = {"a": np.arange(2) + me, "b": np.float32(me)}
    found = multihost_utils.process_allgather(tree)
    np.testing.assert_array_equal(found["a"], np.arange(count)[:, None] + np.arange(2))
    np.testing.assert_array_equal(found["b"], np.arange(count, dtype="f4"))
    assert multihost_utils.process_allgather(np.ones((2, 3)), tiled=True).shape == (2 * count, 3)
    sent = multihost_utils.broadcast_one_to_all(np.array([-0.0, np.nan, me]))
    assert np.signbit(sent[0])
    assert np.isnan(sent[1])
    assert sent[2] == 0
    assert multihost_utils.broadcast_one_to_all(np.array(me), is_source=me == 1) == 1
    with pytest.raises(ValueError, match=r"in one process, but it is in the processes \[\]"):
        multihost_utils.broadcast_one_to_all(np.array(me), is_source=False)
    multihost_utils.sync_global_devices("here")
    with pytest.raises(AssertionError, match=r"here the name is 'place .', but the values of"):
        multihost_utils.sync_global_devices(f"place {min(me, 1)}")
    multihost_utils.assert_equal(np.array(3))
    with pytest.raises(AssertionError, match=r"numbers: the values of the processes \[1"):
        multihost_utils.assert_equal(np.array(me), "numbers")
    local = np.arange(4.0) + 10 * me
    y = multihost_utils.host_local_array_to_global_array(local, mesh, P("process"))
    assert y.shape == (4 * count,)
    back = multihost_utils.global_array_to_host_local_array(y, mesh, P("process"))
    np.testing.assert_array_equal(back, local)


def store(folder, me, mesh, x, whole):
    copied = bindax.device_put(x, NamedSharding(mesh, P()))
    with pytest.raises(nnx.CheckpointError, match=r"by one process: .* Pass sharded=True"):
        nnx.save(f"{folder}/alone", {"x": x})
    tree = {"x": x, "copy": copied, "own": np.float32(me), "key": bindax.random.key(3)}
    nnx.save(f"{folder}/point", tree, sharded=True)
    with pytest.raises(nnx.CheckpointError, match=r"point (exists; |cannot be written: proc)"):
        nnx.save(f"{folder}/point", tree, sharded=True)
    like = bindax.device_put(x, NamedSharding(mesh, P("device", "process")))
    found = nnx.load(f"{folder}/point", like={**tree, "x": like})
    assert found["x"].sharding == like.sharding
    assert found["own"] == 0
    np.testing.assert_array_equal(multihost_utils.process_allgather(found["x"]), whole)
    np.testing.assert_array_equal(found["copy"], whole)
    with pytest.raises(nnx.CheckpointError, match=r"'x'.* is float64\[.*\], but float32"):
        nnx.load(f"{folder}/point", like={**tree, "x": np.zeros(whole.shape, "f4")})


def refusals(address):
    """What ``initialize`` refuses at once or in time, in one process."""
    initialize, error = bindax.distributed.initialize, bindax.errors.BackendError
    with pytest.raises(error, match=r"cannot listen at .*: .*address already in use"):
        initialize(address, 2, 0)
    with pytest.raises(error, match=r"of 2 processes 1 did not come to the coordinator within 1 s"):
        initialize(os.environ["COORDINATOR"], 2, 0, initialization_timeout=1)
    with pytest.raises(error, match=r"did not answer at .* within 1 s"):
        initialize(os.environ["COORDINATOR"], 2, 1, initialization_timeout=1)
    assert not bindax.distributed.is_initialized()
    initialize(os.environ["COORDINATOR"], 1, 0)
    assert bindax.distributed.is_initialized()
    with pytest.raises(RuntimeError, match="initialize is called once"):
        initialize(os.environ["COORDINATOR"], 1, 0)
    bindax.distributed.shutdown()
    bindax.distributed.shutdown()
    assert bindax.devices()
    with pytest.raises(RuntimeError, match=r"has started already, with 1 device.*Call initialize"):
        initialize(os.environ["COORDINATOR"], 1, 0)


def explicit():
    """Two training steps whose types say how arrays lie, beside those of this process alone."""
    count, _ = join(local_device_ids=[0, 1])
    spec = None  # of a product whose terms are on several devices

    def loss(params, x):
        hidden = bnp.tanh(x @ params["in"])
        return bnp.mean(bnp.matmul(hidden, params["out"], out_sharding=spec) ** 2)

    @bindax.jit
    def step(params, x):
        value, slopes = bindax.value_and_grad(loss)(params, x)
        return bindax.tree.map(lambda p, s: p - 0.1 * s, params, slopes), value

    x = np.linspace(-1.0, 1.0, 64, dtype=np.float32).reshape(8, 8)
    whole = {"in": x, "out": np.cos(x)}
    with bindax.disable_jit():
        alone = step(step(whole, x)[0], x)
        curved = bindax.grad(lambda scale: step({**whole, "in": scale * x}, x)[1])(1.0)

    mesh = bindax.make_mesh((count, 2), ("x", "y"), (AxisType.Explicit,) * 2)
    assert len({device.process_index for device in mesh.devices.flat}) == count
    spec = P("x")
    with bindax.set_mesh(mesh):
        laid = bindax.reshard(whole, {"in": P(None, "y"), "out": P("y")})
        rows = bindax.reshard(x, P("x"))
        params, value = step(step(laid, rows)[0], rows)
        types = [bindax.typeof(params[name]).str_short() for name in ("in", "out")]
        assert types == ["float32[8,8@y]", "float32[8@y,8]"]
        slope = bindax.grad(lambda scale: step({**laid, "in": scale * laid["in"]}, rows)[1])(1.0)
        found = {name: bindax.reshard(params[name], P()) for name in params}
    for name in params:
        np.testing.assert_allclose(found[name], alone[0][name], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose([value, slope], [alone[1], curved], rtol=1e-5)


def waits():
    """Sum over all processes, again and again, until one is lost."""
    count, _ = join(heartbeat_timeout_seconds=2)
    mesh = bindax.make_mesh((count,), ("process",))
    x = bindax.make_array_from_process_local_data(NamedSharding(mesh, P("process")), np.ones(2))
    total = bindax.jit(lambda x: x.sum())
    print(f"sum {total(x)}", flush=True)
    while True:
        total(x).block_until_ready()


def differs():
    """Run programs that are not the same in all processes, and then values of other shapes."""
    count, me = join()
    mesh = bindax.make_mesh((count,), ("process",))
    sharding = NamedSharding(mesh, P("process"))
    x = bindax.make_array_from_process_local_data(sharding, np.ones((1, 4)))
    sums = [bindax.jit(lambda x: x.sum(0)), bindax.jit(lambda x: 2 * x.sum(0))]
    lost = bindax.errors.BackendError
    with pytest.raises(lost, match=r"run different programs: process 0 .*, process 1 .*All must"):
        sums[me](x)
    with pytest.raises(lost, match="run different programs"):
        multihost_utils.process_allgather(np.ones(2 + me))


def raises():
    """Call a host function that raises in one process, in a program that then sums over all."""
    count, me = join()
    mesh = bindax.make_mesh((count,), ("process",))
    x = bindax.make_array_from_process_local_data(NamedSharding(mesh, P("process")), np.ones(2))
    failing = [True]

    def host(x):
        if me == 1 and failing[0]:
            raise KeyError("here")
        return x

    def part(x):
        kind = bindax.ShapeDtypeStruct(x.shape, x.dtype)
        return lax.psum(bindax.pure_callback(host, kind, x), "process")

    total = bindax.jit(bindax.shard_map(part, mesh=mesh, in_specs=P("process"), out_specs=P()))
    who = "" if me == 1 else "in process 1 "
    with pytest.raises(bindax.errors.BackendError, match=f"failed, because {who}the host callback"):
        total(x)
    failing.clear()
    failing.append(False)
    np.testing.assert_array_equal(np.asarray(total(x)), np.full(2, float(count)))


if __name__ == "__main__":
    programs = (values, refusals, explicit, waits, differs, raises)
    for name, *argument in (text.split("=", 1) for text in sys.argv[1:]):
        {program.__name__: program for program in programs}[name](*argument)
