"""NLI as an evaluator of an experiment."""

import asyncio
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from threading import Lock

from ancrage.claims import COMPARISON_VERSION, EXTRACTOR_VERSION, Claim, extract_claims
from ancrage.config import Config, load
from ancrage.domain import Evaluation, FailureMode, Finding, JsonValue, Passage, Score
from ancrage.evaluator import Subject
from ancrage.nli.calibrate import read
from ancrage.nli.model import NLIModel
from ancrage.nli.rules import rule_of
from ancrage.nli.settings import NLISettings
from ancrage.nli.verify import ClaimVerdict, Verification, Verifier
from ancrage.tools import tool_calls, tool_text

CONTRADICTED = FailureMode(
    name="nli_contradicted",
    title="Contradicted claim (NLI)",
    definition="A claim that the messages it cites, or the tools' results, contradict, by an NLI "
    "model and a threshold, or by comparison of figures.",
)
UNSUPPORTED = FailureMode(
    name="nli_unsupported",
    title="Unsupported claim (NLI)",
    definition="A claim that the messages it cites and the tools' results neither support nor "
    "contradict, by an NLI model and a threshold.",
)


@dataclass(frozen=True)
class NLIEvaluator:
    """Counts an answer's claims that its sources contradict, or do not support.

    The premise of a claim is the text of the messages cited in it, then the results of the tools;
    a claim that cites no message is held against all messages that the answer cites.
    """

    settings: NLISettings
    name: str = "nli"
    _one_at_a_time: Lock = field(default_factory=Lock, repr=False, compare=False)
    """Tokenizers are not made for several threads."""

    @property
    def version(self) -> str:
        """Changes with the extractor, the comparison of figures, the model and the rule."""
        settings = self.settings
        rule = ""
        match settings.rule:
            case "paper":
                rule = f"k={settings.k},{settings.score},ddof={settings.ddof}"
            case "fixed":
                rule = f"tau={settings.tau}"
            case "calibrated":
                rule = f"={self._fitted}"
        revision = f"@{settings.revision}" if settings.revision else ""
        versions = f"{EXTRACTOR_VERSION}+{COMPARISON_VERSION}"
        return f"{versions}:{settings.model}{revision}:{settings.rule}{rule}"

    @cached_property
    def _fitted(self) -> str:
        """A hash of the calibration: two fits decide differently."""
        fitted = read(self.settings.calibration or "").model_dump_json()
        return hashlib.sha256(fitted.encode()).hexdigest()[:12]

    @property
    def modes(self) -> tuple[FailureMode, ...]:
        """``nli_contradicted`` and ``nli_unsupported``."""
        return (CONTRADICTED, UNSUPPORTED)

    @cached_property
    def verifier(self) -> Verifier:
        """The model, loaded at the first answer, and its rule."""
        model = NLIModel.load(self.settings)
        return Verifier(judge=model.judge, rule=rule_of(self.settings))

    async def evaluate(self, subject: Subject) -> Evaluation:
        """Two counts, unscored where there is no source or a claim could not be judged."""
        claims = extract_claims(subject.text)
        premises = premises_of(subject, claims)
        if claims and not any(premises):
            reason = "no message cited and no tool result: there is nothing to hold claims against"
            return self._evaluation(tuple(Score.unscored(m.name, reason) for m in self.modes))
        result = await asyncio.to_thread(self._verify, subject.text, claims, premises)
        unscored = [v for v in result.verdicts if v.outcome == "unscored"]
        findings = tuple(f for v in result.verdicts if (f := _finding(subject.text, v)))
        counts = {m.name: sum(f.mode == m.name for f in findings) for m in self.modes}
        scores = tuple(
            Score.unscored(
                name,
                f"{len(unscored)} of {len(claims)} claims unscored: {unscored[0].reason}; "
                f"{count} found among the others",
            )
            if unscored
            else Score(name=name, value=count)
            for name, count in counts.items()
        )
        details: dict[str, JsonValue] = {
            **result.counts,
            "flags": list(result.flags),
            "threshold": result.threshold,
        }
        return self._evaluation(scores, findings, details)

    def _verify(self, text: str, claims: tuple[Claim, ...], premises: list[str]) -> Verification:
        with self._one_at_a_time:
            return asyncio.run(self.verifier.verify_claims(text, claims, premises))

    def _evaluation(
        self,
        scores: tuple[Score, ...],
        findings: tuple[Finding, ...] = (),
        details: Mapping[str, JsonValue] | None = None,
    ) -> Evaluation:
        return Evaluation(
            evaluator=self.name,
            version=self.version,
            scores=scores,
            findings=findings,
            details=dict(details or {}),
        )


def nli_evaluator(config: Config | None = None) -> NLIEvaluator:
    """The evaluator of the ``[nli]`` table, its model loaded.

    Raises:
        UsageError: the table cannot be used, or the model cannot be loaded.
    """
    evaluator = NLIEvaluator((config or load()).table("nli", NLISettings))
    _ = evaluator.verifier
    return evaluator


def premises_of(subject: Subject, claims: tuple[Claim, ...]) -> list[str]:
    """The premise of each claim; see ``NLIEvaluator``."""
    cited: list[tuple[int, str]] = []
    for citation in subject.citations.citations:
        for token in citation.messages:
            message = subject.source.message(token.text) if subject.source else None
            if message:
                cited.append((citation.start, message.text))
    outputs = [tool_text(call.output) for call in tool_calls(subject) if call.error is None]
    premises = []
    for i, claim in enumerate(claims):
        # References written after the full stop belong to the claim before them.
        end = claims[i + 1].start if i + 1 < len(claims) else len(subject.text)
        own = [text for start, text in cited if claim.start <= start < end]
        parts = [*(own or [text for _, text in cited]), *outputs]
        premises.append("\n\n".join(dict.fromkeys(part for part in parts if part.strip())))
    return premises


def _finding(text: str, verdict: ClaimVerdict) -> Finding | None:
    mode = {"correct": CONTRADICTED, "kept": UNSUPPORTED}.get(verdict.outcome)
    if mode is None:
        return None
    details: dict[str, JsonValue] = {"statement": verdict.claim.statement}
    if verdict.probabilities:
        details["probabilities"] = [round(p, 4) for p in verdict.probabilities]
    if verdict.passage:
        details["passage"] = verdict.passage
    return Finding(
        mode=mode.name,
        evidence=Passage.of(text, verdict.claim.start, verdict.claim.end),
        explanation=verdict.reason,
        details=details,
    )
