"""The roots of a workspace: for each an index, and a watcher that keeps it up to date. Knows no cursor and no editor.

`use` says at once what counts and answers at once; what takes time, opening, building and closing, belongs in a thread.
"""

import logging
import threading
from dataclasses import dataclass
from pathlib import Path

from lsp_complete.context.answers import Status
from lsp_complete.context.index import Index
from lsp_complete.context.indexer import Hooks
from lsp_complete.context.policy import Policy
from lsp_complete.context.watch import Watcher

_log = logging.getLogger(__name__)


@dataclass(slots=True, eq=False)
class Root:
    index: Index
    watcher: Watcher
    is_built: bool = False

    def close(self) -> None:
        """Takes as long as an update takes to notice."""
        self.index.cancel()
        self.watcher.stop()
        self.index.close()


class Roots:
    """`folder` is where the indexes lie. Any thread may call anything."""

    def __init__(self, folder: Path) -> None:
        self.policy = Policy()
        self._folder = folder
        self._wanted: tuple[str, ...] = ()
        self._open: dict[str, Root] = {}
        self._gone: list[Root] = []
        self._changing = threading.Lock()
        self._building = threading.Lock()

    def use(self, policy: Policy, *, is_indexed: bool = True, has_other_rules: bool = True) -> None:
        """These roots and rules count from now on. Roots that stay are not built again; where the rules are others or a
        root inside came or went, they are walked."""
        with self._changing:
            changed = set(policy.roots) ^ set(self.policy.roots)
            self.policy, self._wanted = policy, policy.roots if is_indexed else ()
            self._gone += [self._open.pop(name) for name in list(self._open) if name not in self._wanted]
            for name, root in self._open.items():
                root.index.use_policy(policy)
                root.watcher.use_policy(policy)
                if has_other_rules or any(other.startswith(name) for other in changed):
                    root.watcher.changed(root.index.root)

    def open(self) -> None:
        """Close what is gone, and open what is to be used: what was built before can be asked from then on."""
        self.close_gone()
        for name in self._wanted:
            if name not in self._open:
                made = self._made(name)
                with self._changing:
                    is_wanted = name in self._wanted and name not in self._open
                    made.index.use_policy(self.policy)
                    made.watcher.use_policy(self.policy)
                    if is_wanted:
                        self._open[name] = made
                if not is_wanted:
                    made.close()

    def build(self, hooks: Hooks) -> list[Status]:
        """Bring the indexes that are new up to date with the disk, and watch it from then on. One call at a time works,
        others wait for it."""
        with self._building:
            return [_built(root, hooks) for root in self.all() if not root.is_built]

    def all(self) -> list[Root]:
        return list(self._open.values())

    def of(self, file: str) -> Root | None:
        """The root that holds a canonical path."""
        return self._open.get(self.policy.root_of(file))

    def label(self, root: Root) -> str:
        """Tells it from the others in a path: its folder's name, with a number where others have the same one. Says
        nothing of where it lies."""
        own = Path(root.index.root).name
        same = [name for name in sorted(self._open) if Path(name).name == own]
        place = next((place for place, name in enumerate(same) if self._open.get(name) is root), 0)
        return f"{own}-{place + 1}" if place else own

    def close_gone(self) -> None:
        with self._changing:
            gone, self._gone = self._gone, []
        for root in gone:
            root.close()

    def close(self) -> None:
        self.use(Policy())
        self.close_gone()

    def _made(self, name: str) -> Root:
        index = Index.open(name, self._folder, self.policy)
        watcher = Watcher(index.root, self.policy, index.update_files)
        return Root(index, watcher)


def _built(root: Root, hooks: Hooks) -> Status:
    status = root.index.build(hooks)
    _log.info("index: %s, %d files", status.state, status.num_files)
    root.is_built = True
    root.watcher.start()
    return status
