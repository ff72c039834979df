"""The claims of an output, cut by rules; ``ancrage.verify.llm`` has a model list them."""

from dataclasses import dataclass
from typing import Protocol

from ancrage.abstention.detect import DEFLECTIONS, REFUSALS, detect
from ancrage.claims import Claim, extract_claims
from ancrage.domain import Usage
from ancrage.evaluator import Subject
from ancrage.fingerprint import code_version
from ancrage.verify.model import Prompt


@dataclass(frozen=True)
class Extraction:
    """The claims of an output, and how they were found."""

    claims: tuple[Claim, ...]
    version: str
    prompts: tuple[Prompt, ...] = ()
    usage: Usage | None = None
    notes: tuple[str, ...] = ()


class Extractor(Protocol):
    """Finds the claims of an output. Its version is recorded: it moves the denominator."""

    @property
    def version(self) -> str: ...

    async def extract(self, run: Subject) -> Extraction: ...


def claims_of(run: Subject) -> tuple[Claim, ...]:
    """The claims of an output by rules; a recognised abstention makes none."""
    read = detect(run.text, run.case.input.question)
    # Grounds alone, such as what a document is about, may abstain and are claims all the same.
    refuses = any(clause.kind in (*REFUSALS, *DEFLECTIONS) for clause in read.clauses)
    return () if read.abstained and refuses else extract_claims(run.text)


def rules_version() -> str:
    """Changes with what cuts claims, and with what is recognised as an abstention."""
    return code_version(extract_claims, detect)


@dataclass(frozen=True)
class RuleExtractor:
    """``claims_of``: deterministic, no model."""

    @property
    def version(self) -> str:
        """Of the rules."""
        return f"rules-{rules_version()}"

    async def extract(self, run: Subject) -> Extraction:
        """The claims of the output's text."""
        return Extraction(claims_of(run), self.version)
