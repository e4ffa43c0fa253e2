"""Several processes on this machine: they train as one does, and an end of one ends the others."""

import importlib.util
import os
import re
import signal
import subprocess
from pathlib import Path

import numpy as np
import pytest

import bindax

pytest.importorskip("jaxlib")

HERE = Path(__file__).parent
EXAMPLES = HERE.parent / "examples" / "distributed"
PROGRAM = str(HERE / "distributed_program.py")
LIMIT = 120  # seconds; a machine with much to do is slow to start processes


def module(name):
    spec = importlib.util.spec_from_file_location(f"distributed_{name}", EXAMPLES / f"{name}.py")
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


@pytest.fixture
def start():
    """Start processes; those that are left are ended with the test."""
    started = []

    def launch(count, *command):
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        own = module("launch").launch(count, [*map(str, command)], **pipes)
        started.extend(own)
        return own

    yield launch
    for process in started:
        if process.poll() is None:
            os.kill(process.pid, signal.SIGKILL)
        process.communicate()


def finished(processes):
    """The output of processes that must end well."""
    results = [process.communicate(timeout=LIMIT) for process in processes]
    for process, (_, errors) in zip(processes, results, strict=True):
        assert process.returncode == 0, errors
    return [output for output, _ in results]


def lost(process):
    """What a process wrote that ended because another one is lost: by itself, not by a signal."""
    output, errors = process.communicate(timeout=LIMIT)
    assert process.returncode == 1, errors
    return output, errors


def losses(text):
    return {int(a): float(b) for a, b in re.findall(r"step (\d+) loss (\S+)", text)}


def read_until(process, word):
    text = ""
    for line in process.stdout:
        text += line
        if word in line:
            return text
    raise AssertionError(f"{word!r} did not come: {text}{process.stderr.read()}")


def same_as_one_process(found):
    mesh = bindax.make_mesh((1, 1), ("data", "model"))
    expected = module("train").train(mesh, max(found) + 1)
    np.testing.assert_allclose([*found.values()], [expected[i] for i in found], rtol=1e-6)


def test_training_goes_on_with_the_same_numbers_after_a_process_is_killed(start, tmp_path):
    checkpoint = ("--checkpoint", tmp_path / "point")
    first, second = start(2, EXAMPLES / "train.py", "--data", 2, "--steps", 10**6, *checkpoint)
    text = read_until(first, "step 7 ")
    os.kill(second.pid, signal.SIGKILL)
    output, errors = lost(first)
    assert "ProcessLostError" in errors
    assert "process 1 of 2 was killed" in errors
    done = losses(text + output)
    assert sorted(done) == [*range(len(done))]
    steps = len(done) + 3
    resumed = start(2, EXAMPLES / "train.py", "--model", 2, "--steps", steps, *checkpoint)
    more = losses(finished(resumed)[0])
    assert 5 <= min(more) <= len(done)
    assert max(more) == steps - 1
    same_as_one_process(done)
    same_as_one_process(more)


def test_processes_share_arrays_values_checkpoints_and_types(start, tmp_path):
    finished(start(2, PROGRAM, f"values={tmp_path}", "explicit"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["point"]
    whole = bindax.nnx.load(tmp_path / "point")["['x']"]  # one process reads it too
    np.testing.assert_array_equal(whole, np.arange(16.0).reshape(4, 4))
    (tmp_path / "point" / "shards-00001-of-00002.safetensors").unlink()
    with pytest.raises(bindax.nnx.CheckpointError, match=r"00001-of-00002.* is missing"):
        bindax.nnx.load(tmp_path / "point")


@pytest.mark.nightly
def test_a_step_with_explicit_axes_is_that_of_one_process(start):
    finished(start(4, PROGRAM, "explicit"))


def test_a_host_function_that_raises_and_other_programs_are_errors_in_all_processes(start):
    finished(start(2, PROGRAM, "raises", "differs"))


def test_what_does_not_fit_is_refused(start):
    import socket

    with socket.create_server(("127.0.0.1", 0)) as taken:
        finished(start(1, PROGRAM, f"refusals=127.0.0.1:{taken.getsockname()[1]}"))


BAD = {
    "coordinator_address must be 'host:port'": ("localhost", 2, 0),
    "coordinator_address must be 'host:port', where process 0 listens, but it is None": (
        *(None, 2, 0, None),
        "deactivate",
    ),
    "num_processes must be a whole number from 1 on, but it is 0": ("localhost:1", 0, 0),
    "process_id must be a whole number from 0 on, but it is -1": ("localhost:1", 2, -1),
    "process_id=2 is not one of 0 to 1": ("localhost:1", 2, 2),
    "local_device_ids must be different numbers": ("localhost:1", 2, 0, [1, 1]),
}


@pytest.mark.parametrize("message", BAD)
def test_arguments_that_are_wrong_are_named(message):
    with pytest.raises(ValueError, match=re.escape(message)):
        bindax.distributed.initialize(*BAD[message])


SLURM = """
import os, bindax
own = os.environ
own.update(SLURM_JOB_ID="7", SLURM_STEP_NODELIST="localhost", SLURM_LOCALID="0")
own.update(SLURM_NTASKS=own["PROCESSES"], SLURM_PROCID=own["PROCESS"])
own["BINDAX_COORDINATOR_PORT"] = own["COORDINATOR"].rpartition(":")[2]
bindax.distributed.initialize()
print("this is", bindax.process_index(), "of", bindax.process_count())
"""


@pytest.mark.nightly
def test_processes_find_each_other_by_what_a_cluster_says(start):
    outputs = finished(start(2, "-c", SLURM))
    assert ["this is 0 of 2" in outputs[0], "this is 1 of 2" in outputs[1]] == [True, True]


@pytest.mark.nightly
@pytest.mark.parametrize("ended", [0, 2])
def test_all_of_four_processes_end_when_one_is_killed(start, ended):
    processes = start(4, PROGRAM, "waits")
    for process in processes:
        read_until(process, "sum 8.0")
    os.kill(processes[ended].pid, signal.SIGKILL)
    for i, process in enumerate(processes):
        if i != ended:
            _, errors = lost(process)
            assert f"process {ended} of 4 was killed" in errors


@pytest.mark.nightly
@pytest.mark.parametrize("frozen", [0, 1])
def test_a_process_that_does_not_answer_is_not_waited_for(start, frozen):
    processes = start(2, PROGRAM, "waits")
    for process in processes:
        read_until(process, "sum 4.0")
    os.kill(processes[frozen].pid, signal.SIGSTOP)
    _, errors = lost(processes[1 - frozen])
    assert f"process {frozen} of 2 has not answered for 2 s" in errors


@pytest.mark.nightly
def test_four_processes_train_as_one_does(start):
    options = ("--data", 2, "--model", 2, "--steps", 8)
    same_as_one_process(losses(finished(start(4, EXAMPLES / "train.py", *options))[0]))


@pytest.mark.parametrize("first", ["bindax", pytest.param("jax", marks=pytest.mark.nightly)])
def test_jax_computes_with_the_same_processes(start, first):
    pytest.importorskip("jax")
    import socket

    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    program = HERE / "distributed_beside_jax.py"
    assert all(text.endswith("done\n") for text in finished(start(2, program, first, port)))
