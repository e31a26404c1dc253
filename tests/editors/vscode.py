"""A real VS Code window in a browser without a screen, driven by its keyboard and read off its page."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import urllib.request
from collections.abc import Generator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psutil
from playwright.sync_api import Browser, Locator, Page, ViewportSize, sync_playwright

from tests.editors.code_server import PROPOSED, Program
from tests.editors.outcomes import until
from tests.server.editor import environ

VSIX = Path(__file__).parent.parent.parent / "vscode-shim" / "dist" / "lsp-complete.vsix"
_SIZE = ViewportSize(width=1000, height=560)
# A busy machine takes its time.
_PATIENCE_MS = 90_000
_OF_A_BROWSER = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
# Somebody who types fast. Keys that come without a pause are taken for a paste.
_KEY_MS = 40

_USER: dict[str, Any] = {
    "editor.quickSuggestions": {"other": "off", "comments": "off", "strings": "off"},
    "editor.suggestOnTriggerCharacters": False,
    "editor.wordBasedSuggestions": "off",
    "editor.autoClosingBrackets": "never",
    "editor.autoClosingQuotes": "never",
    "editor.minimap.enabled": False,
    "files.autoSave": "off",
    "workbench.startupEditor": "none",
    "workbench.secondarySideBar.defaultVisibility": "hidden",
    "workbench.enableExperiments": False,
    "workbench.tips.enabled": False,
    "workbench.reduceMotion": "on",
    "telemetry.telemetryLevel": "off",
    "chat.disableAIFeatures": True,
    "extensions.autoUpdate": False,
    "extensions.autoCheckUpdates": False,
    "extensions.ignoreRecommendations": True,
    "update.mode": "none",
    "git.enabled": False,
}

# The pieces of the ghost text, line by line; blanks are drawn as another character.
_GHOST = """() => {
  const lines = new Map();
  for (const one of document.querySelectorAll('.ghost-text-decoration, .ghost-text-decoration-preview, .ghost-text')) {
    const { top, width } = one.getBoundingClientRect();
    if (width > 0 && !one.querySelector('[class*="ghost-text"]')) {
      const row = Math.round(top / 10);
      lines.set(row, (lines.get(row) ?? '') + one.innerText);
    }
  }
  return [...lines].sort((a, b) => a[0] - b[0]).map(line => line[1].replace(/\\u00a0|\\u00b7/g, ' ')).join('\\n');
}"""
# Of a colour as the browser has it: `rgb(1, 2, 3)`.
_BRIGHTNESS = "(one, name) => getComputedStyle(one)[name].match(/\\d+/g).slice(0, 3).reduce((a, b) => a + Number(b), 0)"
_OPTIONS = (
    "--auth=none",
    "--disable-telemetry",
    "--disable-update-check",
    "--disable-getting-started-override",
    "--disable-file-downloads",
)


@contextlib.contextmanager
def running_browser(program: Program) -> Generator[Browser, None, None]:
    """One for all windows: its driver has an event loop of its own, which a thread can have one of."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program.browser, args=_OF_A_BROWSER)
        yield browser
        browser.close()


class VsCode:
    """`machine` are settings that only the user may make. `has_proposed`: the host allows proposed interfaces. `roots`
    are folders in the workspace, where there is not one alone; `is_trusted`: nobody asks whether it is."""

    def __init__(
        self,
        program: Program,
        browser: Browser,
        folder: Path,
        machine: dict[str, Any],
        has_proposed: bool,
        roots: tuple[str, ...] = (),
        is_trusted: bool = True,
    ) -> None:
        self.folder, self.work = folder, folder / "work"
        self.work.mkdir(parents=True, exist_ok=True)
        self._write_settings("User", _USER)
        self._write_settings("Machine", machine)
        self._environ = _environ(folder, has_proposed)
        self._program, self._roots, self._is_trusted = program, roots, is_trusted
        self._port = _free_port()
        self._run("--install-extension", str(VSIX))
        self._context = browser.new_context(viewport=_SIZE)
        self.process = self._start()
        try:
            self.page = self._open_window()
        except BaseException:
            self.kill()
            raise

    # What a user does

    def open(self, text: str, name: str) -> Path:
        """A new file in the workspace, the cursor at its end."""
        file = self.work / name
        file.write_text(text, "utf-8")
        self.page.keyboard.press("Control+p")
        self.page.keyboard.type(str(file))
        self._choose(file.name)
        self.page.locator(f'.tab.active[data-resource-name="{file.name}"]').wait_for()
        self.page.locator(".editor-instance .monaco-editor.focused").wait_for()
        self.keys("Control+End")
        return file

    def keys(self, *names: str) -> None:
        for name in names:
            self.page.keyboard.press(name)

    def type(self, text: str) -> None:
        """Letters that no key has are put in as an input method does it."""
        self.page.keyboard.type(text, delay=_KEY_MS)

    def command(self, title: str) -> None:
        """By the palette."""
        self.page.keyboard.press("F1")
        self.page.keyboard.type(title)
        self._choose(title)

    def _choose(self, label: str) -> None:
        self.page.mouse.move(0, 0)  # what a row says when the mouse rests on it covers the other rows
        self.page.locator(".quick-input-list .monaco-list-row").filter(has_text=label).first.click()

    def choose_in_menu(self, *labels: str) -> None:
        """By the status bar."""
        self.status.click()
        for label in labels:
            self._choose(label)

    # What a user sees

    @property
    def ghost(self) -> str:
        return str(self.page.evaluate(_GHOST))

    def until_ghost(self, text: str) -> None:
        until(f"ghost text {text!r}", lambda: self.ghost == text)

    @property
    def status(self) -> Locator:
        return self.page.locator('[id^="lsp-complete.lsp-complete"]')

    def until_status(self, state: str) -> None:
        shown = "lsp-complete" if state == "ready" else f"lsp-complete: {state}"
        until(f"status {shown!r}", lambda: self.status.inner_text().strip() == shown)

    def until_saved(self, file: Path, text: str) -> None:
        """That the editor has this text."""

        def is_saved() -> bool:
            self.keys("Control+s")
            return file.read_text("utf-8") == text

        until(f"text {text!r}", is_saved)

    def shown_text(self, name: str) -> str:
        """The lines of another document that are on the screen, once there are any."""
        self.page.locator(f'.tab.active[data-resource-name="{name}"]').wait_for()
        lines = self.page.locator(".editor-instance .view-line")
        return str(until("text", lambda: "\n".join(lines.all_inner_texts()).replace("\u00a0", " ").strip()))

    def until_page(self, theme: str) -> None:
        """A page of the extension's is `light`, dark writing on bright ground, or `dark`."""
        inner = self.page.frame_locator("iframe.webview.ready").frame_locator("iframe")
        body = inner.locator("body:has(h1)")
        body.wait_for()

        def is_it() -> bool:
            ground, writing = (int(body.evaluate(_BRIGHTNESS, name)) for name in ("backgroundColor", "color"))
            return (ground > writing) == (theme == "light")

        until(f"a {theme} page", is_it)

    def picture(self, file: Path, height: int = _SIZE["height"]) -> None:
        self.page.screenshot(path=file, clip={"x": 0, "y": 0, "width": _SIZE["width"], "height": height})

    # How it begins and ends

    def quit(self) -> None:
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        self._end(signal.SIGKILL)

    def _end(self, number: signal.Signals) -> None:
        self._context.close()
        os.killpg(self.process.pid, number)
        self.process.wait(30)

    @property
    def server(self) -> psutil.Process:
        return next(one for one in self.processes if one.cmdline()[-1:] == ["lsp"])

    @property
    def processes(self) -> list[psutil.Process]:
        main = psutil.Process(self.process.pid)
        return [main, *main.children(recursive=True)]

    def _start(self) -> "subprocess.Popen[bytes]":
        trust = ["--disable-workspace-trust"] if self._is_trusted else []
        command = self._command(f"--bind-addr=127.0.0.1:{self._port}", *_OPTIONS, *trust)
        with (self.folder / "code-server.log").open("wb") as log:
            process = subprocess.Popen(
                command, env=self._environ, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )
        until("code-server", lambda: _answers(f"http://127.0.0.1:{self._port}/healthz"))
        return process

    def _open_window(self) -> Page:
        page = self._context.new_page()
        page.set_default_timeout(_PATIENCE_MS)
        page.route(lambda url: not url.startswith(f"http://127.0.0.1:{self._port}"), lambda route: route.abort())
        page.goto(f"http://127.0.0.1:{self._port}/?{self._opened()}", wait_until="commit")
        page.locator('[id^="lsp-complete.lsp-complete"]').wait_for()
        return page

    def _opened(self) -> str:
        """What the address says is to be opened."""
        if not self._roots:
            return f"folder={quote(str(self.work))}"
        file = self.folder / "several.code-workspace"
        folders = [{"path": str(self.work / root)} for root in self._roots]
        file.write_text(json.dumps({"folders": folders}), "utf-8")
        return f"workspace={quote(str(file))}"

    def _run(self, *arguments: str) -> None:
        command = self._command(*arguments)
        subprocess.run(command, env=self._environ, check=True, capture_output=True, timeout=120)

    def _command(self, *arguments: str) -> list[str]:
        data, extensions = self.folder / "data", self.folder / "extensions"
        common = [f"--user-data-dir={data}", f"--extensions-dir={extensions}"]
        return [str(self._program.node), str(self._program.entry), *common, *arguments]

    def _write_settings(self, scope: str, settings: dict[str, Any]) -> None:
        """The window is a remote one: what only the user may say counts in the remote machine's file alone."""
        file = self.folder / "data" / scope / "settings.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(settings), "utf-8")


def _environ(folder: Path, has_proposed: bool) -> dict[str, str]:
    """Nothing of the user's is read or written, and no gallery of extensions is asked."""
    home = folder / "home"
    own = {
        "HOME": home,
        "XDG_CONFIG_HOME": home / "config",
        "XDG_DATA_HOME": home / "data",
        "VIRTUAL_ENV": "",
        "PATH": os.defpath,
        "EXTENSIONS_GALLERY": "{}",
    }
    proposed = {PROPOSED: "1"} if has_proposed else {}
    return environ(folder, **{name: str(value) for name, value in own.items()}, **proposed)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=1) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False
