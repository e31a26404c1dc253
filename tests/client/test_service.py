"""The local service: found or started, one for all, and what becomes of requests while it is not there."""

import asyncio
import contextlib
import os
import signal
import sys
from dataclasses import replace

import psutil
import pytest

from lsp_complete import __version__
from lsp_complete.client.service import LocalService, ServiceState, backoff_s, service_command, service_environ
from lsp_complete.config.extras import EXIT_ENGINE_MISSING, EXIT_MODEL_MISSING
from lsp_complete.config.runtime import (
    EXIT_ALREADY_RUNNING,
    Runtime,
    read_runtime,
    remove_runtime,
    service_lock,
    write_runtime,
)
from lsp_complete.config.settings import Settings, load_settings
from lsp_complete.protocol.errors import ModelLoading, Unauthorized, Unavailable, Unreachable
from tests.fakes import RecitingEngine
from tests.serving import CREDENTIAL, backend_over, serving

from .playing import ENVIRON, PATIENCE_S, Clock, Statuses, exiting, local_service, played, recited

STOPPED, STARTING, LOADING, READY = (
    ServiceState.STOPPED, ServiceState.STARTING, ServiceState.LOADING, ServiceState.READY,
)  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    """Whatever service has been started in it is killed in the end."""
    yield tmp_path
    for pid in started(tmp_path):
        with contextlib.suppress(psutil.NoSuchProcess):
            psutil.Process(pid).kill()
        until_gone(pid)


def until_gone(pid):
    with contextlib.suppress(psutil.NoSuchProcess):
        psutil.Process(pid).wait(PATIENCE_S)


@pytest.fixture
async def opened():
    """Makes LocalServices and closes them."""
    async with contextlib.AsyncExitStack() as stack:

        def make(*args, **options):
            service = local_service(*args, **options)
            stack.push_async_callback(service.aclose)
            return service

        yield make


def started(folder, file="started"):
    path = folder / file
    return [int(line) for line in path.read_text().split()] if path.exists() else []


@contextlib.asynccontextmanager
async def running(folder, backend, credential=CREDENTIAL):
    """The service, in this process."""
    with service_lock(folder):
        async with serving(backend) as url:
            write_runtime(folder, Runtime(url, credential, os.getpid(), ""))
            yield
            remove_runtime(folder)


FORBIDDEN = ["/this/is/not/started"]


# Found or started


async def test_a_service_that_runs_is_found_and_none_is_started(folder, opened):
    statuses = Statuses()
    async with running(folder, backend_over(RecitingEngine("found"))):
        service = opened(folder, FORBIDDEN, on_status=statuses)
        await service.wait_ready()
        assert await recited(service) == "found"
        await service.aclose()
    assert statuses.states == [READY]


async def test_a_service_is_started_if_there_is_none_and_ends_after_the_last_good_bye(folder, opened):
    statuses = Statuses()
    service = opened(folder, on_status=statuses, session_id="s1")
    with pytest.raises(ModelLoading):
        await recited(service)
    await statuses.until(READY)
    assert [state for state in statuses.states if state is not LOADING] == [STARTING, READY]
    assert await recited(service) == "recited"
    (pid,) = started(folder)
    await service.aclose("s1")
    await asyncio.to_thread(until_gone, pid)
    assert read_runtime(folder) is None


async def test_whoever_starts_at_once_gets_the_one_service(folder, opened):
    """Two editors in this process, and one that is a process of its own."""
    other = await asyncio.create_subprocess_exec(
        *played("played_editor", folder), stdout=asyncio.subprocess.PIPE, env=ENVIRON, cwd=folder
    )
    services = [opened(folder), opened(folder)]
    async with asyncio.timeout(PATIENCE_S):
        await asyncio.gather(*(service.wait_ready() for service in services))
        out, _ = await other.communicate()
    assert out == b"recited\n"
    assert [await recited(service) for service in services] == ["recited", "recited"]
    assert len(started(folder, "serving")) == 1


async def test_a_service_that_is_being_started_by_another_is_waited_for(folder, opened):
    statuses = Statuses()
    with service_lock(folder):
        service = opened(folder, FORBIDDEN, on_status=statuses)
        service.start()
        await statuses.until(STARTING)
        async with serving(backend_over(RecitingEngine("other"))) as url:
            write_runtime(folder, Runtime(url, CREDENTIAL, os.getpid(), ""))
            await statuses.until(READY)
            assert await recited(service) == "other"
            await service.aclose()


async def test_who_was_too_late_to_start_one_looks_for_it_again(folder, opened):
    """The service that it started found the lock taken, by one that has ended since."""
    statuses = Statuses()
    service = opened(folder, exiting(EXIT_ALREADY_RUNNING), on_status=statuses)
    service.start()
    await statuses.until(STARTING)
    async with running(folder, backend_over(RecitingEngine("other"))):
        await statuses.until(READY)
        await service.aclose()
    assert statuses.states == [STARTING, READY]


async def test_the_session_is_known_to_the_service_before_its_first_question(folder, opened):
    backend = backend_over(RecitingEngine())
    async with running(folder, backend):
        service = opened(folder, FORBIDDEN, session_id="s1")
        await service.wait_ready()
        assert "s1" in backend.sessions._last_seen
        await service.keep_alive("s2")
        assert "s2" in backend.sessions._last_seen
        await service.aclose("s1")
        assert "s1" not in backend.sessions._last_seen


# Files that are not believed


async def test_what_a_dead_service_left_is_not_believed(folder, opened):
    write_runtime(folder, Runtime("http://127.0.0.1:1", CREDENTIAL, os.getpid(), ""))
    service = opened(folder, exiting(EXIT_MODEL_MISSING))
    with pytest.raises(Unavailable):
        await service.wait_ready()
    assert service.status.state is ServiceState.MODEL_MISSING


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX's")
async def test_a_file_that_others_can_read_is_not_believed(folder, opened):
    async with running(folder, backend_over(RecitingEngine())):
        (path,) = folder.glob("*.json")
        path.chmod(0o644)
        service = opened(folder, FORBIDDEN, clock=Clock(step_s=5.0))
        with pytest.raises(Unavailable):
            await service.wait_ready()
        assert service.status.state is ServiceState.FAILED


# While it is not there


async def test_while_the_model_loads_requests_are_refused_at_once(folder, opened):
    statuses, backend = Statuses(), backend_over(None)
    async with running(folder, backend):
        service = opened(folder, FORBIDDEN, on_status=statuses)
        with pytest.raises(ModelLoading):
            await recited(service)
        await statuses.until(LOADING)
        with pytest.raises(ModelLoading):
            await recited(service)
        backend.service = backend_over(RecitingEngine("loaded")).service
        await statuses.until(READY)
        assert await recited(service) == "loaded"
        await service.aclose()
    assert statuses.states == [LOADING, READY]


async def test_a_model_that_cannot_be_loaded_is_a_failure_with_its_cause(folder, opened):
    backend = backend_over(None)
    backend.failure = "the file is cut off"
    async with running(folder, backend):
        service = opened(folder, FORBIDDEN)
        with pytest.raises(Unavailable, match="the file is cut off"):
            await service.wait_ready()
        await service.aclose()


async def test_a_model_that_does_not_load_is_given_up(folder, opened):
    async with running(folder, backend_over(None)):
        service = opened(folder, FORBIDDEN, clock=Clock(step_s=60.0))
        with pytest.raises(Unavailable, match="does not load"):
            await service.wait_ready()
        await service.aclose()


@pytest.mark.parametrize(
    ("code", "state", "detail"),
    [
        (EXIT_MODEL_MISSING, ServiceState.MODEL_MISSING, "lsp-complete model pull"),
        (EXIT_ENGINE_MISSING, ServiceState.ENGINE_MISSING, "extra `cpu`"),
        (7, ServiceState.FAILED, "exit code 7"),
    ],
)
async def test_how_the_service_ended_says_what_to_do(folder, opened, code, state, detail):
    statuses = Statuses()
    service = opened(folder, exiting(code), on_status=statuses)
    with pytest.raises(Unavailable, match=detail):
        await service.wait_ready()
    with pytest.raises(Unavailable, match=detail):
        await recited(service)
    assert statuses.states == [STARTING, state]


async def test_a_program_that_is_not_there_is_a_failure(folder, opened):
    service = opened(folder, FORBIDDEN)
    with pytest.raises(Unavailable, match="does not start"):
        await service.wait_ready()


def _says(process: psutil.Process, word: str) -> bool:
    """Of one that has ended, nobody knows."""
    try:
        return word in process.cmdline()
    except psutil.Error:
        return False


async def test_a_service_that_opens_no_port_is_killed(folder, opened):
    hanging = [sys.executable, "-c", "import threading; threading.Event().wait()"]
    service = opened(folder, hanging, clock=Clock(step_s=10.0))
    with pytest.raises(Unavailable, match="port"):
        await service.wait_ready()
    ours = [child for child in psutil.Process().children() if _says(child, hanging[-1])]
    _, alive = await asyncio.to_thread(psutil.wait_procs, ours, PATIENCE_S)
    assert alive == []


async def test_a_folder_that_is_gone_is_a_failure(folder, opened):
    service = opened(folder / "gone" / "gone", exiting(0))
    with pytest.raises(Unavailable, match="does not start"):
        await service.wait_ready()


# Back-off


def test_the_wait_doubles_with_each_failure_up_to_a_minute():
    assert [backoff_s(number) for number in range(9)] == [0, 1, 2, 4, 8, 16, 32, 60, 60]
    assert backoff_s(100_000) == 60


async def test_after_a_failure_nothing_is_started_before_its_time(folder, opened):
    statuses, clock = Statuses(), Clock()
    service = opened(folder, exiting(7), on_status=statuses, clock=clock)
    for wait_s in (1, 2, 4):
        with pytest.raises(Unavailable):
            await service.wait_ready()
        num_states = len(statuses.all)
        clock.now += wait_s - 0.5
        service.start()
        with pytest.raises(Unavailable):
            await recited(service)
        assert len(statuses.all) == num_states
        clock.now += 0.5
    assert statuses.states == [STARTING, ServiceState.FAILED] * 3


async def test_a_crash_is_noticed_by_the_request_and_the_next_start_waits(folder, opened):
    statuses, clock = Statuses(), Clock()
    service = opened(folder, on_status=statuses, clock=clock)
    await service.wait_ready()
    (pid,) = started(folder)
    os.kill(pid, signal.SIGKILL)
    await asyncio.to_thread(until_gone, pid)
    for _ in range(2):
        with pytest.raises(ModelLoading):
            await recited(service)
    assert statuses.states[-2:] == [READY, STOPPED]
    assert len(started(folder)) == 1
    clock.now += 1
    await service.wait_ready()
    assert await recited(service) == "recited"
    assert len(started(folder)) == 2


async def test_a_service_that_crashes_again_and_again_is_started_ever_later(folder, opened):
    clock = Clock()
    service = opened(folder, FORBIDDEN, clock=clock)
    for wait_s in (1, 2, 4):
        async with running(folder, backend_over(RecitingEngine())):
            await service.wait_ready()
        with pytest.raises(ModelLoading):
            await recited(service)
        clock.now += wait_s - 0.5
        with pytest.raises(Unavailable):
            await service.wait_ready()
        clock.now += 0.5


async def test_whoever_has_the_port_of_a_service_that_is_gone_gets_no_question(folder, opened):
    service = opened(folder, FORBIDDEN)
    engine = RecitingEngine()
    async with serving(backend_over(engine)) as url:
        with service_lock(folder):
            write_runtime(folder, Runtime(url, CREDENTIAL, os.getpid(), __version__))
            await service.wait_ready()
        with pytest.raises(ModelLoading):
            await recited(service)
        await service.keep_alive("s1")
    assert engine.jobs == []


async def test_a_service_that_has_lived_long_is_looked_for_again_at_once(folder, opened):
    statuses, clock = Statuses(), Clock()
    service = opened(folder, FORBIDDEN, on_status=statuses, clock=clock)
    async with running(folder, backend_over(RecitingEngine())):
        await service.wait_ready()
    clock.now += 3600
    async with running(folder, backend_over(RecitingEngine("new"))):
        with pytest.raises(Unreachable):
            await recited(service)
        await statuses.until(READY)
        assert await recited(service) == "new"
        await service.aclose()
    assert statuses.states == [READY, STOPPED, READY]


async def test_a_stranger_at_the_address_is_a_service_that_is_gone(folder, opened):
    clock = Clock()
    service = opened(folder, FORBIDDEN, clock=clock)
    async with running(folder, backend_over(RecitingEngine("own")), credential="of-another"):
        with pytest.raises(Unavailable):
            await service.wait_ready()
        assert service.status.state is STOPPED
        found = read_runtime(folder)
        assert found is not None
        write_runtime(folder, replace(found, credential=CREDENTIAL))
        clock.now += 1
        await service.wait_ready()
        service._completer._credential = "of-another"
        with pytest.raises(Unauthorized):
            await recited(service)
        assert service.status.state is STOPPED
        await service.aclose()


async def test_a_keep_alive_finds_out_that_the_service_is_gone(folder, opened):
    service = opened(folder, FORBIDDEN, clock=Clock())
    await service.keep_alive("s1")
    async with running(folder, backend_over(RecitingEngine())):
        await service.wait_ready()
    await service.keep_alive("s1")
    assert service.status.state is STOPPED


async def test_after_the_good_bye_nothing_is_started_any_more(folder):
    service = local_service(folder, FORBIDDEN)
    await service.aclose("s1")
    with pytest.raises(Unavailable):
        await service.wait_ready()
    await service.aclose("s1")
    assert service.status.state is STOPPED


async def test_a_good_bye_while_it_starts_ends_the_starting(folder):
    statuses = Statuses()
    with service_lock(folder):
        service = LocalService(folder, FORBIDDEN, ENVIRON, statuses)
        service.start()
        await statuses.until(STARTING)
        await service.aclose("s1")
    assert statuses.states == [STARTING]


# What is started


def test_the_service_is_started_with_the_editors_settings():
    settings = Settings(model="a-model", threads=3, slots=5)
    environ = service_environ(settings, {"PATH": "/bin", "LSP_COMPLETE_MODEL": "another"})
    assert (environ["PATH"], environ["LSP_COMPLETE_MODEL"]) == ("/bin", "a-model")
    found, problems = load_settings({}, environ)
    assert (found.model, found.threads, found.slots, problems) == ("a-model", 3, 5, [])


def test_nothing_is_imported_from_the_current_folder():
    assert service_command()[:3] == [sys.executable, "-P", "-m"]
