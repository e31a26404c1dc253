"""How changes of folders come to us: the kernel's notices through watchdog. Knows no index and no policy.

On Linux a watch costs one of a limited number, so each folder is watched by itself and ignored ones are not; all
watches share one thread and one descriptor. watchdog's own recursive watch takes every folder below, and says nothing
when the limit is reached. Elsewhere one recursive watch of the root costs nothing.
"""

import os
import sys
from collections.abc import Callable
from typing import Any, Protocol

Changed = Callable[[str], None]
"""Called in a thread of the backend with the absolute path of what changed, came or went."""


class Backend(Protocol):
    """`watch` raises OSError where the system has no more watches. `is_recursive`: one watch covers all below."""

    is_recursive: bool

    def watch(self, folder: str) -> None: ...

    def unwatch(self, folder: str) -> None: ...

    def close(self) -> None: ...


def system_backend(root: str, changed: Changed) -> Backend:
    """The backend for this system. Raises OSError where it cannot be had."""
    return InotifyBackend(root, changed) if sys.platform == "linux" else ObserverBackend(changed)


class InotifyBackend:
    """One inotify descriptor. A queue that overflowed counts as a change of the whole root."""

    is_recursive = False

    def __init__(self, root: str, changed: Changed) -> None:
        from watchdog.observers.inotify_c import InotifyFD

        self._root = root
        self._changed = changed
        self._descriptor = InotifyFD()
        self._folders: dict[int, str] = {}
        self._descriptor.start()

    def watch(self, folder: str) -> None:
        from watchdog.observers.inotify_c import CallbackId, Mask

        number = self._descriptor.add_callback(os.fsencode(folder), Mask(_mask()), self, CallbackId(id(self)))
        self._folders[number] = folder

    def unwatch(self, folder: str) -> None:
        from watchdog.observers.inotify_c import CallbackId, WatchDescriptor

        numbers = [number for number, name in self._folders.items() if name == folder]
        self._descriptor.remove_callbacks([(WatchDescriptor(number), CallbackId(id(self))) for number in numbers])
        for number in numbers:
            self._folders.pop(number, None)

    def close(self) -> None:
        self._descriptor.stop()
        self._descriptor.join()
        self._folders.clear()

    def on_event(self, event: Any) -> None:
        folder = self._folders.get(event.wd)
        if folder is not None:
            self._changed(os.path.join(folder, os.fsdecode(event.name)) if event.name else folder)

    def on_watch_deleted(self, wd: int) -> None:
        self._folders.pop(wd, None)

    def on_queue_overflow(self) -> None:
        self._changed(self._root)


class ObserverBackend:
    """watchdog's observer of the system: FSEvents, ReadDirectoryChangesW or kqueue."""

    is_recursive = True

    def __init__(self, changed: Changed) -> None:
        from watchdog.observers import Observer

        self._changed = changed
        self._observer = Observer()
        self._observer.start()

    def watch(self, folder: str) -> None:
        self._observer.schedule(self, folder, recursive=True)  # type: ignore[arg-type]

    def unwatch(self, folder: str) -> None:
        pass  # a recursive watch covers what comes and goes

    def close(self) -> None:
        self._observer.stop()
        self._observer.join()

    def dispatch(self, event: Any) -> None:
        if event.event_type in ("created", "deleted", "modified", "moved") and not _is_noise(event):
            for path in filter(None, (event.src_path, event.dest_path)):
                self._changed(os.fsdecode(path))


def _is_noise(event: Any) -> bool:
    """A folder is modified with each file in it, which is reported by itself."""
    return bool(event.is_directory and event.event_type == "modified")


def _mask() -> int:
    from watchdog.observers.inotify_c import InotifyConstants as In

    changes = In.IN_CLOSE_WRITE | In.IN_CREATE | In.IN_DELETE | In.IN_MOVED_FROM | In.IN_MOVED_TO | In.IN_DELETE_SELF
    return int(changes | In.IN_ONLYDIR | In.IN_DONT_FOLLOW)
