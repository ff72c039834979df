"""Loading, label order, batching and windows, on tiny models; plain pairs on the real one."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ancrage.errors import UsageError
from ancrage.nli import NLIModel, NLISettings
from ancrage.nli.windows import decide, windows
from tests.conftest import ROOT

Build = Callable[..., Path]
PAIRS = [
    ("the cat sat on the mat .", "a cat is on a mat ."),
    ("the dog was not in .", "the dog was in ."),
    ("a cat .", "a dog ."),
    ("the cat sat on the mat . " * 3, "the cat ."),
]


def load(folder: Path, **options: Any) -> NLIModel:
    return NLIModel.load(
        NLISettings(model=str(folder), **{"offline": True, "dtype": "float32", **options})
    )


@pytest.mark.parametrize("kind", ["bert", "deberta"])
def test_batches_say_what_single_pairs_say(tiny: Build, kind: str) -> None:
    folder = tiny(kind)
    together = load(folder, batch_tokens=4096).judge(PAIRS).probabilities
    alone = np.vstack([load(folder, batch_tokens=64).judge([p]).probabilities for p in PAIRS])
    assert together == pytest.approx(alone, abs=1e-5)
    assert together.sum(axis=1) == pytest.approx(1)
    assert np.ptp(together[:, 0]) > 0.01


def test_columns_follow_the_models_own_labels(tiny: Build) -> None:
    usual = load(tiny("bert")).judge(PAIRS).probabilities
    swapped = load(tiny("bert", ("contradiction", "entailment", "neutral"))).judge(PAIRS)
    assert swapped.probabilities == pytest.approx(usual[:, [1, 2, 0]], abs=1e-6)
    given = load(tiny("bert", ("c", "e", "n")), labels=("e", "n", "c")).judge(PAIRS)
    assert given.probabilities == pytest.approx(swapped.probabilities, abs=1e-6)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (("yes", "no", "maybe"), r"do not name entailment.*\[nli\]"),
        (("entailment", "not_entailment"), r"has 2 labels \(entailment, not_entailment\)"),
    ],
)
def test_labels_that_do_not_tell_are_refused(
    tiny: Build, labels: tuple[str, ...], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        load(tiny("bert", labels))


def test_labels_that_the_model_has_not_are_refused(tiny: Build) -> None:
    with pytest.raises(UsageError, match=r"are not the labels of .*entailment, neutral"):
        load(tiny("bert"), labels=("yes", "no", "maybe"))


def test_duplicates_are_computed_once(tiny: Build) -> None:
    seen: list[int] = []
    judged = load(tiny("bert")).judge(PAIRS * 5, seen.append)
    assert sum(seen) == len(PAIRS)
    assert (judged.probabilities[:4] == judged.probabilities[4:8]).all()


def test_bfloat16_agrees_within_three_points(real_model: NLIModel) -> None:
    pairs = [(premise, hypothesis) for premise, hypothesis, _ in CLEAR]
    half = load(Path(real_model.settings.model), dtype="bfloat16").judge(pairs).probabilities
    assert np.abs(real_model.judge(pairs).probabilities - half).max() < 0.03


def test_a_long_premise_is_windowed_and_the_hypothesis_kept(tiny: Build) -> None:
    model = load(tiny("bert"))
    filler = "the dog was in . " * 60
    judged = model.judge([(filler + "the cat sat on the mat .", "the cat sat .")])
    assert judged.windows[0] > 5
    assert judged.passages[0] in (filler + "the cat sat on the mat .")
    assert np.isfinite(judged.probabilities).all()


def test_a_hypothesis_too_long_is_unscored_never_cut(tiny: Build) -> None:
    judged = load(tiny("bert")).judge([("the cat .", "the cat " * 80), PAIRS[0]])
    assert np.isnan(judged.probabilities[0]).all()
    assert judged.windows.tolist() == [0, 1]
    assert np.isfinite(judged.probabilities[1]).all()


def test_missing_weights_are_one_sentence_that_helps(torch: Any, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as raised:
        NLIModel.load(NLISettings(model="nobody/no-such-model", offline=True))
    assert "hf download nobody/no-such-model" in str(raised.value)
    assert "\n" not in str(raised.value)
    with pytest.raises(UsageError, match="hf download nobody/none --revision abc"):
        NLIModel.load(NLISettings(model="nobody/none", revision="abc", offline=True))
    with pytest.raises(UsageError, match="no usable checkpoint"):
        load(tmp_path)


def test_weights_that_can_run_code_are_not_loaded(tiny: Build, torch: Any) -> None:
    folder = tiny("bert")
    weights = folder / "model.safetensors"
    from safetensors.torch import load_file

    torch.save(load_file(weights), folder / "pytorch_model.bin")
    weights.unlink()
    with pytest.raises(UsageError):
        load(folder)


def test_facts_are_recorded(tiny: Build) -> None:
    folder = tiny("bert")
    facts = load(folder, dtype="float32").facts
    assert str(facts["revision"]).startswith("sha256:")
    assert facts == {
        "model": str(folder), "revision": facts["revision"], "device": "cpu", "dtype": "float32",
        "max_tokens": 64, "window": 128,
    }  # fmt: skip
    assert load(folder).facts["dtype"] in ("float32", "bfloat16")


@pytest.mark.parametrize("kind", ["bert", "deberta"])
def test_onnx_says_what_torch_says_and_records_its_drift(
    tiny: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    pytest.importorskip("onnxruntime", reason="onnx formats need pip install 'ancrage[onnx]'")
    pytest.importorskip("onnx")
    monkeypatch.chdir(tmp_path)
    folder = tiny(kind)
    plain = load(folder).judge(PAIRS).probabilities
    exact = load(folder, dtype="onnx-float32")
    assert exact.judge(PAIRS).probabilities == pytest.approx(plain, abs=1e-4)
    assert exact.facts["drift"] == "0.000"
    short = load(folder, dtype="onnx-int8")
    assert short.facts["dtype"] == "onnx-int8"
    assert short.drift is not None
    assert 0 < short.drift < 0.1
    said = short.judge(PAIRS).probabilities
    assert 0 < np.abs(said - plain).mean() < 0.2
    monkeypatch.setattr("ancrage.nli.model.network_of", lambda *_: pytest.fail("converted again"))
    again = load(folder, dtype="onnx-int8")
    assert again.facts == short.facts
    assert again.judge(PAIRS).probabilities == pytest.approx(said)


def test_a_conversion_that_says_something_else_is_refused(
    tiny: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("onnxruntime", reason="onnx formats need pip install 'ancrage[onnx]'")
    pytest.importorskip("onnx")
    from ancrage.nli import onnx

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(onnx, "_drift", lambda *_: 0.3)
    with pytest.raises(UsageError, match=r"differs by 0\.300 .* set dtype in \[nli\] to float32"):
        load(tiny("bert"), dtype="onnx-int8")
    assert not list(onnx.KEPT.glob("*.onnx"))


def test_onnx_without_its_packages_is_one_line(
    tiny: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(UsageError, match=r"pip install 'ancrage\[onnx\]'"):
        load(tiny("bert"), dtype="onnx-int8")


def test_a_folder_is_pinned_by_the_hash_of_its_weights(tiny: Build) -> None:
    folder = tiny("bert")
    revision = load(folder).revision
    assert load(folder, revision=revision).revision == revision
    with pytest.raises(UsageError, match=f"revision = 'main': the weights in .* are {revision}"):
        load(folder, revision="main")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"device": "nonsense"}, "device = 'nonsense' cannot be used"),
        ({"device": "cuda:7"}, "device = 'cuda:7' cannot be used"),
        ({"device": "cuda", "dtype": "onnx-int8"}, "dtype = 'onnx-int8' runs on a processor"),
        ({"max_tokens": 600}, "max_tokens = 600: the model reads 64"),
        ({"model": "/no/such/folder"}, "no folder '/no/such/folder'"),
    ],
)
def test_what_cannot_be_used_is_one_line(
    tiny: Build, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError) as raised:
        NLIModel.load(NLISettings(**{"model": str(tiny("bert")), **options}))
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


def test_damaged_and_headless_weights_are_refused(tiny: Build) -> None:
    from safetensors.torch import load_file, save_file

    folder = tiny("bert")
    weights = folder / "model.safetensors"
    whole = load_file(weights)
    save_file({k: v for k, v in whole.items() if "classifier" not in k}, weights)
    with pytest.raises(UsageError, match="not a trained classifier: classifier"):
        load(folder)
    save_file({k: v[:1] for k, v in whole.items()}, weights)
    with pytest.raises(UsageError, match="no usable checkpoint"):
        load(folder)
    weights.write_bytes(weights.read_bytes()[:1000])
    with pytest.raises(UsageError, match="no usable checkpoint"):
        load(folder)


def test_a_hub_that_cannot_be_reached_is_one_line_at_once(
    torch: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from huggingface_hub import constants

    for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(constants, "ENDPOINT", "https://127.0.0.1:9")
    began = time.monotonic()
    with pytest.raises(UsageError, match="the hub cannot be reached: run `hf download nobody/none"):
        NLIModel.load(NLISettings(model="nobody/none"))
    assert time.monotonic() - began < 10


@pytest.mark.parametrize("asked", ["", ", revision='main'", f", revision='{'a' * 40}'"])
def test_a_model_of_the_hub_is_recorded_by_its_commit(
    tiny: Build, tmp_path: Path, asked: str
) -> None:
    """Read from the hub's own cache, without a network."""
    cache = tmp_path / "hub" / "models--nobody--tiny"
    shutil.copytree(tiny("bert"), cache / "snapshots" / ("a" * 40))
    (cache / "refs").mkdir()
    (cache / "refs" / "main").write_text("a" * 40)
    code = (
        "from ancrage.nli import NLIModel, NLISettings; print(NLIModel.load(NLISettings("
        f"model='nobody/tiny', dtype='float32'{asked})).revision)"
    )
    environment = {
        **os.environ, "HF_HOME": str(tmp_path), "PYTHONPATH": str(ROOT / "evals"),
        "HTTPS_PROXY": "http://127.0.0.1:9",
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == "a" * 40, done.stderr


def words(texts: list[str]) -> list[int]:
    return [len(text.split()) for text in texts]


@given(
    st.lists(st.text(alphabet="ab ", min_size=1, max_size=30), min_size=1, max_size=12),
    st.integers(1, 12),
)
def test_windows_fit_and_lose_no_word(parts: list[str], free: int) -> None:
    premise = " ".join(f"{part.strip().capitalize()} x." for part in parts)
    cut = windows(premise, words, free)
    assert all(size <= free for size in words(cut))
    assert set(premise.split()) <= {word for window in cut for word in window.split()}


def test_windows_hold_code_and_table_headers_too() -> None:
    premise = (
        "One two.\n\n```\nlimit = 42\n```\n\n| City | Share |\n|---|---|\n| Lyon | 45 |\n"
        + "A b. " * 9
    )
    found = " ".join(windows(premise, words, 7))
    assert all(word in found for word in ("limit = 42", "City", "Share", "Lyon"))


def test_windows_overlap_by_a_sentence() -> None:
    premise = "One two. Three four. Five six. Seven eight."
    assert windows(premise, words, 4) == [
        "One two. Three four.",
        "Three four. Five six.",
        "Five six. Seven eight.",
    ]


def test_entailment_anywhere_prevails_and_contradiction_needs_its_window() -> None:
    rows = np.array([[0.1, 0.2, 0.7], [0.8, 0.1, 0.1]])
    assert decide(rows) == 1
    assert decide(np.array([[0.1, 0.2, 0.7], [0.3, 0.6, 0.1]])) == 0
    assert decide(np.array([[0.1, 0.5, 0.4], [0.3, 0.6, 0.1]])) == 1


CLEAR = [
    ("A man is sleeping on a bench.", "A man is sleeping.", 0),
    ("A man is sleeping on a bench.", "Nobody is sleeping.", 2),
    ("Two dogs are running through a field.", "Dogs are running.", 0),
    ("Two dogs are running through a field.", "The dogs are lying still.", 2),
    ("A woman is reading a book.", "The book is about the history of France.", 1),
]


@pytest.mark.parametrize(("premise", "hypothesis", "expected"), CLEAR)
def test_the_real_model_is_right_on_plain_pairs(
    real_model: NLIModel, premise: str, hypothesis: str, expected: int
) -> None:
    assert real_model.judge([(premise, hypothesis)]).probabilities[0].argmax() == expected


def test_a_context_that_fills_the_model_cannot_hide_the_claim(real_model: NLIModel) -> None:
    small = load(Path(real_model.settings.model), max_tokens=24)
    context = (
        "Two dogs are running through a field. Children play football in a park near the river. "
        "A woman in a red coat is buying apples at a market. The train to the coast is late today. "
        "Some tourists take pictures of a church. A man is sleeping on a bench."
    )
    judged = small.judge([(context, "A man is sleeping."), (context, "Dogs are running.")])
    assert (judged.windows >= 2).all()
    assert judged.probabilities.argmax(axis=1).tolist() == [0, 0]
    assert "A man is sleeping on a bench." in judged.passages[0]
    assert "Two dogs are running" in judged.passages[1]
