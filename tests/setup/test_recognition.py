"""Files as people have them are read as a person would have mapped them."""

from pathlib import Path

import pytest

from ancrage.setup.citing import propose
from ancrage.setup.propose import Sampled, answers_of, ids_of, sample
from ancrage.snapshot.sources.mapping import AnswerFields, MessageFields, QuestionFields
from tests.setup.projects import SEEN, UNSEEN, Project


def mapping(file: Sampled) -> dict[str, str]:
    """All the fields by the columns that hold them, those of our own names too."""
    ours = {"answers": AnswerFields(), "messages": MessageFields(), "questions": QuestionFields()}
    found: dict[str, str] = ours[file.kind].model_dump()
    return found | file.fields


@pytest.mark.parametrize("project", [*SEEN, *UNSEEN], ids=lambda project: project.name)
def test_the_mapping_is_the_one_a_person_would_choose(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    sampled = sample([Path(name) for name in project.write(tmp_path)])
    kinds = ["answers", "messages", "questions"]
    expected = [project.expected, project.expected_message, project.expected_question]
    for file, kind, wanted in zip(sampled, kinds, expected, strict=False):
        assert file.kind == kind, file.line
        found = mapping(file)
        assert {name: found[name] for name in wanted} == wanted
        assert file.readable == len(file.rows) > 0
    texts = answers_of(sampled[0])
    proposal = propose(texts, ids_of(sampled))
    assert proposal.of == 12
    if project.reads:
        assert proposal.read == 12, proposal
