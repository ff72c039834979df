"""Small models of fixed seed for plumbing; the real small one for accuracy, where it is."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

WORDS = ["the", "a", "cat", "dog", "sat", "sits", "on", "mat", "in", "is", "was", "not", ".", ","]


@pytest.fixture(scope="session")
def torch() -> Any:
    module = pytest.importorskip(
        "torch", reason="NLI models need torch: pip install 'ancrage[nli]'"
    )
    pytest.importorskip(
        "transformers", reason="NLI models need transformers: pip install 'ancrage[nli]'"
    )
    module.set_num_threads(1)
    return module


@pytest.fixture(scope="session")
def tiny(torch: Any, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Builds a checkpoint: architecture, and the labels in the order of its columns."""
    import transformers
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    def build(
        kind: str, labels: tuple[str, ...] = ("entailment", "neutral", "contradiction")
    ) -> Path:
        folder = tmp_path_factory.mktemp(kind)
        vocabulary = {w: i for i, w in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *WORDS])}
        tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
        tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
        tokenizer.post_processor = processors.TemplateProcessing(
            single="[CLS] $A [SEP]",
            pair="[CLS] $A [SEP] $B:1 [SEP]:1",
            special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
        )
        fast: Any = transformers.PreTrainedTokenizerFast
        fast(
            tokenizer_object=tokenizer,
            pad_token="[PAD]",
            unk_token="[UNK]",
            cls_token="[CLS]",
            sep_token="[SEP]",
            model_max_length=64,
        ).save_pretrained(folder)
        torch.manual_seed(7)
        sizes: dict[str, Any] = {
            "initializer_range": 0.4,
            "vocab_size": len(vocabulary),
            "hidden_size": 32,
            "num_hidden_layers": 2,
            "num_attention_heads": 2,
            "intermediate_size": 64,
            "max_position_embeddings": 64,
            "type_vocab_size": 2,
            "id2label": dict(enumerate(labels)),
            "label2id": {label: i for i, label in enumerate(labels)},
        }
        config: Any
        network: Any
        if kind == "deberta":
            config = transformers.DebertaV2Config(
                **sizes, relative_attention=True, pos_att_type=["p2c", "c2p"]
            )
            network = transformers.DebertaV2ForSequenceClassification(config)
        else:
            config = transformers.BertConfig(**sizes)
            network = transformers.BertForSequenceClassification(config)
        network.save_pretrained(folder)
        return folder

    return build


@pytest.fixture(scope="session")
def real_model(torch: Any, shared: Path) -> Any:
    """The real small English model."""
    from ancrage.nli import NLIModel, NLISettings

    folder = shared / "models" / "nli-minilm-en"
    if not folder.is_dir():
        pytest.skip("the real NLI model (../shared/models/nli-minilm-en) is not on this machine")
    return NLIModel.load(NLISettings(model=str(folder), offline=True, dtype="float32"))
