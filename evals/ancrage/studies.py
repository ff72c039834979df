"""Studies made ready for evaluators: ids resolved, messages indexed."""

from collections import OrderedDict
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from ancrage.citations import QuotedPassage, load_grammar
from ancrage.config import Config, load
from ancrage.domain import Case, Message, Output, Passage, Question, Study
from ancrage.evaluator import Subject
from ancrage.ids import IdIndex, IdPolicy
from ancrage.quotes import QuoteIndex, QuoteVerdict
from ancrage.quotes.verify import SourceText, plain_option

if TYPE_CHECKING:
    from ancrage.snapshot import Snapshot

_KEPT = 200_000
"""Messages of indexed studies held at once; other studies are indexed again when they come back."""
_SHARED = 20_000
"""Messages from which the processes of a run share one index of words."""


@dataclass(frozen=True)
class IndexedStudy:
    """One study, indexed."""

    study: Study
    policy: IdPolicy
    index_path: Path | None = None
    """Where processes share the index of the words of its messages."""

    @cached_property
    def quotes(self) -> QuoteIndex:
        """Every message's text, ready for verification by id."""
        return QuoteIndex(
            ((message.id, message.text) for message in self.study.messages),
            {
                message.id: message.language or self.study.language
                for message in self.study.messages
            },
            self.index_path,
        )

    def message(self, written: str) -> Message | None:
        """The message that an id, as an answer writes it, means."""
        if message := self._messages.get(written):
            return message
        found = self._message_ids.find(written)
        return self._messages[found] if found else None

    def cited(self, quote: QuotedPassage) -> list[str]:
        """The ids of the messages that a quote cites, those that exist, in order."""
        found = (
            self.message(token.text) for citation in quote.citations for token in citation.messages
        )
        return [message.id for message in found if message]

    def passage(self, verdict: QuoteVerdict) -> Passage | None:
        """The part of a message that a verdict is about; None when it is about no part."""
        held = self.message(verdict.source_id) if verdict.source_id else None
        if not held or verdict.source_start is None or verdict.source_end is None:
            return None
        return Passage.of(held.text, verdict.source_start, verdict.source_end)

    @cached_property
    def questionnaire(self) -> tuple[frozenset[str], tuple[SourceText, ...]]:
        """The options of the study's questions, and the texts of its title and questions."""
        options = (option for question in self.study.questions for option in question.options)
        texts = (self.study.title, *(question.text for question in self.study.questions))
        return frozenset(map(plain_option, options)), tuple(
            SourceText(text) for text in texts if text
        )

    def question(self, written: str) -> Question | None:
        """The question that a reference, as an answer writes it, means."""
        found = self._question_refs.find(written)
        return self._questions[found] if found else None

    def respondent(self, written: str) -> str | None:
        """The respondent id that a written one means."""
        return written if written in self._respondents else self._respondent_ids.find(written)

    def neighbours(self, message: Message) -> tuple[Message | None, Message | None]:
        """What the same respondent wrote just before and just after, in the study's order."""
        return self._neighbours[message.id]

    @cached_property
    def _neighbours(self) -> dict[str, tuple[Message | None, Message | None]]:
        threads: dict[str, list[Message]] = {}
        for message in self.study.messages:
            threads.setdefault(message.respondent_id or message.id, []).append(message)
        return {
            message.id: (before, after)
            for thread in threads.values()
            for before, message, after in zip(
                [None, *thread[:-1]], thread, [*thread[1:], None], strict=True
            )
        }

    @cached_property
    def _messages(self) -> dict[str, Message]:
        return {message.id: message for message in self.study.messages}

    @cached_property
    def _questions(self) -> dict[str, Question]:
        return {question.ref: question for question in self.study.questions}

    @cached_property
    def _message_ids(self) -> IdIndex:
        return IdIndex(self._messages, self.policy)

    @cached_property
    def _question_refs(self) -> IdIndex:
        return IdIndex(self._questions, self.policy)

    @cached_property
    def _respondent_ids(self) -> IdIndex:
        return IdIndex(self._respondents, self.policy)

    @cached_property
    def _respondents(self) -> set[str]:
        return {message.respondent_id for message in self.study.messages} - {""}


class Studies:
    """The indexed studies of a snapshot, built when first asked for.

    ``scratch`` is a folder where the processes of a run share what takes long to build.
    """

    def __init__(
        self, snapshot: "Snapshot", config: Config | None = None, scratch: Path | None = None
    ) -> None:
        config = config or load()
        self.snapshot, self.config, self._scratch = snapshot, config, scratch
        self._policy = config.table("ids", IdPolicy)
        self.grammar = load_grammar(config)
        self._kept: OrderedDict[str, IndexedStudy | None] = OrderedDict()

    def subject(self, case: Case, output: Output) -> Subject:
        """An output ready to be evaluated."""
        return Subject(case, output, self.of(case), self.grammar)

    def of(self, case: Case) -> IndexedStudy | None:
        """The source of a case; None when it has none or the snapshot no longer holds it."""
        if case.study_id is None:
            return None
        if case.study_id not in self._kept:
            self._kept[case.study_id] = self._indexed(case.study_id)
            while len(self._kept) > 1 and self._messages() > _KEPT:
                self._kept.popitem(last=False)
        self._kept.move_to_end(case.study_id)
        return self._kept[case.study_id]

    def _indexed(self, study_id: str) -> IndexedStudy | None:
        study = self.snapshot.study(study_id)
        if study is None:
            return None
        path = None
        if self._scratch and len(study.messages) >= _SHARED:
            path = self._scratch / f"{sha256(study_id.encode()).hexdigest()[:16]}.words"
        return IndexedStudy(study, self._policy, path)

    def _messages(self) -> int:
        return sum(len(kept.study.messages) for kept in self._kept.values() if kept)
