"""A browser that opens pages from disk, without a network."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bindax_core.extend import find_backend

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
OPTIONS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"),
    *("--host-resolver-rules=MAP * ~NOTFOUND", "--window-size=1500,900"),
    *("--virtual-time-budget=8000", "--disable-background-networking"),
)
WATCH = """<script>
window.problems = [];
window.addEventListener("error", (event) => problems.push(String(event.message)));
window.addEventListener("unhandledrejection", (event) => problems.push(String(event.reason)));
console.error = (...words) => problems.push(words.join(" "));
</script>"""
RUN = """<script>(async () => {
const pause = () => new Promise((resolve) => setTimeout(resolve, 20));
while (!document.body.dataset.ready && !problems.length) await pause();
let answer = null;
try { answer = await (async () => { %s })(); } catch (error) { problems.push(String(error)); }
const node = document.createElement("pre");
node.id = "answer";
node.textContent = JSON.stringify({ answer, problems });
document.body.append(node);
})();</script>"""


@pytest.fixture
def browse(tmp_path: Path) -> Callable[[str, str], Any]:
    """Open a page, run a script in it, and give what the script returns."""
    browser = next(filter(None, map(shutil.which, NAMES)), None)
    if browser is None:
        pytest.skip("no Chromium is installed, which opens the page")

    def opened(page: str, script: str) -> Any:
        file = tmp_path / "page.html"
        page = page.replace("<head>", "<head>" + WATCH, 1)
        file.write_text(page.replace("</body>", RUN % script + "</body>", 1), encoding="utf-8")
        command = [browser, *OPTIONS, f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom"]
        done = subprocess.run(
            [*command, file.as_uri()],
            capture_output=True,
            encoding="utf-8",
            timeout=120,
            check=True,
        )
        found = re.search(r'<pre id="answer">(.*?)</pre>', done.stdout, re.DOTALL)
        assert found, done.stdout[-2000:] + done.stderr[-2000:]
        result = json.loads(html.unescape(found[1]))
        assert result["problems"] == []
        return result["answer"]

    return opened


@pytest.fixture
def compiled() -> None:
    """Skip where nothing compiles."""
    if find_backend().name == "numpy":
        pytest.skip("programs are compiled and profiled by XLA")
