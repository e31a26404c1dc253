"""An editor that leaves says so, whatever the service is doing."""

import os

from lsp_complete import __version__
from lsp_complete.client.service import ServiceState
from lsp_complete.config.runtime import Runtime, service_lock, write_runtime
from tests.client.playing import Statuses, local_service
from tests.serving import CREDENTIAL, backend_over, serving


async def test_who_leaves_while_the_model_is_loading_does_not_keep_the_service(tmp_path):
    backend, statuses = backend_over(None), Statuses()
    with service_lock(tmp_path):
        async with serving(backend) as url:
            write_runtime(tmp_path, Runtime(url, CREDENTIAL, os.getpid(), __version__))
            service = local_service(tmp_path, on_status=statuses, session_id="mine")
            service.start()
            await statuses.until(ServiceState.LOADING)
            assert "mine" in backend.sessions._last_seen
            await service.aclose("mine")
            assert backend.sessions._last_seen == {}
