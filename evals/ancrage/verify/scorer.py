"""The scorer: claims, verdicts, score."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from ancrage.claims import Claim
from ancrage.domain import Evaluation, FailureMode
from ancrage.errors import UsageError
from ancrage.evaluator import Subject
from ancrage.llm import Models, Tier, add_usage
from ancrage.nli import NLISettings
from ancrage.verify.context import GetContext, Texts, items, resolve
from ancrage.verify.correct import Correct, Recall, corrected
from ancrage.verify.decide import decision_version
from ancrage.verify.evaluation import MODES, NAME, evaluation_of
from ancrage.verify.extract import Extractor, RuleExtractor, claims_of
from ancrage.verify.llm import LLMExtractor, LLMVerifier
from ancrage.verify.lookup import Retriever
from ancrage.verify.model import (
    ClaimVerdict,
    ClaimVerifier,
    ContextItem,
)
from ancrage.verify.result import Verification
from ancrage.verify.rounds import Rounds, looked_up, unscorable

Model = str | Tier | ClaimVerifier


@dataclass(frozen=True)
class ClaimScorer:
    """Scores outputs claim by claim; also an evaluator of experiments. See
    ``claim_scorer``."""

    verifiers: tuple[ClaimVerifier, ...]
    extractor: Extractor = field(default_factory=RuleExtractor)
    context: tuple[ContextItem, ...] = ()
    get_context: GetContext | None = None
    scale: float = 1.0
    code: bool = True
    retriever: Retriever | None = None
    recall: Recall | None = None
    correct: Correct | None = None
    models: Models | None = None
    """What recalls and corrections are asked through."""
    name: str = NAME

    @property
    def versions(self) -> dict[str, str]:
        """Of all that decides a score."""
        return {
            "extractor": self.extractor.version,
            "decision": decision_version() if self.code else "verifiers alone",
            **{verifier.name: verifier.version for verifier in self.verifiers},
        }

    @property
    def version(self) -> str:
        """All of ``versions`` in one line."""
        return " ".join(f"{name}={value}" for name, value in self.versions.items())

    @property
    def modes(self) -> tuple[FailureMode, ...]:
        """``hallucinated_claim``, ``contradicted_claim`` and ``unsupported_claim``."""
        return MODES

    async def score(self, run: Subject) -> Verification:
        """The score of one output, with its claims, verdicts and reason.

        Whatever fails on the way is unscored with its reason: an output that is not there, a
        context that cannot be had, a model that does not answer.

        Raises:
            UsageError: the models cannot be called at all (no key, no price for a budget).
        """
        nothing = unscorable(run, self.scale)
        if nothing:
            return nothing.model_copy(update={"versions": self.versions})
        found = await self.extractor.extract(run)
        context, problem = await self._held_against(run) if found.claims else ((), "")
        rounds = Rounds(run, found.claims, context, self.verifiers, code=self.code)
        if context:
            await rounds.ask(range(len(found.claims)))
        if self.retriever and not problem:
            rounds.add(looked_up(self.retriever, (found.claims[i] for i in rounds.open)))
            await rounds.ask(rounds.open if len(rounds.context) > len(context) else ())
        if found.claims and not rounds.context:
            problem = problem or f"{self._nothing}: nothing to hold claims against"
        usages = [usage for usage in (found.usage, *(o.usage for o in rounds.said)) if usage]
        result = Verification.of(
            run_id=run.case.id,
            claims=found.claims,
            verdicts=rounds.verdicts(problem),
            scale=self.scale,
            problem=problem or None,
            context=rounds.context,
            prompts=(*found.prompts, *(p for opinions in rounds.said for p in opinions.prompts)),
            versions=self.versions | {"extractor": found.version},
            notes=(*found.notes, *(n for opinions in rounds.said for n in opinions.notes)),
            usage=add_usage(usages) if usages else None,
        )
        if self.correct is None or problem:
            return result

        async def check(claim: Claim) -> ClaimVerdict:
            alone = Rounds(run, (claim,), rounds.context, self.verifiers, code=self.code)
            await alone.ask((0,))
            return alone.verdicts()[0]

        return await corrected(result, run.text, run.case.input.question, self.correct, check)

    @property
    def tiers(self) -> dict[str, Tier]:
        """What models it calls, by purpose."""
        return {self._purpose(caller): caller.tier for caller in self._callers}

    async def plan(self, subject: Subject) -> dict[str, list[int]]:
        """The input tokens of each call that an output would take, by purpose; none is made.

        Claims that a model would list are counted as the rules cut them, and all of them as open
        where passages are looked up.
        """
        planned: dict[str, list[int]] = {}
        if isinstance(self.extractor, LLMExtractor):
            planned[self._purpose(self.extractor)] = [self.extractor.tokens(subject)]
        claims = claims_of(subject)
        asked = [verifier for verifier in self.verifiers if isinstance(verifier, LLMVerifier)]
        context, problem = await self._held_against(subject) if claims and asked else ((), "none")
        contexts = [context] if context else []
        if self.retriever and not problem:
            contexts.append((*context, *looked_up(self.retriever, claims)))
        for verifier in asked if contexts else ():
            planned[self._purpose(verifier)] = [
                verifier.tokens(subject, claims, held) for held in contexts
            ]
        return planned

    @property
    def _callers(self) -> list[LLMVerifier | LLMExtractor]:
        every = (self.extractor, *self.verifiers)
        return [caller for caller in every if isinstance(caller, LLMVerifier | LLMExtractor)]

    def _purpose(self, caller: LLMVerifier | LLMExtractor) -> str:
        return f"{self.name}: {caller.name}"

    async def aclose(self) -> None:
        """Close the connections that scoring opened."""
        for caller in (*self._callers, *([self.models] if self.models else [])):
            await caller.aclose()

    async def evaluate(self, subject: Subject) -> Evaluation:
        """The score as counts of contradicted and unsupported claims, one finding each."""
        return evaluation_of(await self.score(subject), subject.text, self.name, self.version)

    @property
    def _nothing(self) -> str:
        return "get_context found no context" if self.get_context else "the context is empty"

    async def _held_against(self, run: Subject) -> tuple[tuple[ContextItem, ...], str]:
        """The context of a run, given or recalled; without one, maybe a reason why."""
        try:
            context = await resolve(self.get_context, run) if self.get_context else self.context
        except Exception as error:  # noqa: BLE001  the user's function can fail in any way
            return (), f"get_context raised {type(error).__name__}: {error}"
        question = run.case.input.question
        if not context and self.recall and question:
            recalled = await self.recall(question)
            context = (ContextItem(text=recalled, id="recalled"),) if recalled else ()
        return context, ""


def claim_scorer(
    model: Model | Sequence[Model] | None,
    *,
    scale: float = 1.0,
    context: Texts = (),
    get_context: GetContext | None = None,
    extractor: Tier | str | None = None,
    models: Models | None = None,
    nli: NLISettings | None = None,
    code: bool = True,
    retriever: Retriever | None = None,
    recall: Recall | None = None,
    correct: Correct | None = None,
) -> ClaimScorer:
    """A scorer of outputs by their claims: hallucinated claims / claims × ``scale``.

    Args:
        model: who gives verdicts: the name of a tier of the configuration, a ``Tier``, ``"nli"``
            for an NLI model, any ``ClaimVerifier``, or several of these, the first of which is
            followed where they disagree. None asks no model: only figures, dates and verbatim
            claims get a verdict.
        scale: the score of an output of which every claim is hallucinated.
        context: the texts that claims are held against.
        get_context: finds them for each run when it is scored; prevails over ``context``.
        extractor: a tier whose model lists the claims; by default rules do.
        models: the client to call models with, its budget and its cache of answers.
        nli: which NLI model; by default that of ``[nli]``.
        code: whether figures, dates and words are compared by code.
        retriever: finds passages for each claim that the context does not settle, added to it.
        recall: recalls a context from the question alone where there is none.
        correct: rewrites contradicted claims; each correction is verified before it is used.

    Raises:
        UsageError: a tier is not configured, a text of ``context`` is not one, the scale is not
            above 0, or the NLI model cannot be loaded.
    """
    if not scale > 0 or scale == float("inf"):
        raise UsageError(f"scale {scale:g}: give a finite number above 0")
    models = models or Models()
    listed: list[Model] = []
    if isinstance(model, str) or not isinstance(model, Sequence):
        listed = [] if model is None else [model]
    elif not (listed := list(model)):
        raise UsageError("no model given; None asks for code alone")
    verifiers = tuple(_verifier(chosen, models, nli) for chosen in listed)
    names = [verifier.name for verifier in verifiers]
    if len(set(names)) < len(names):
        raise UsageError(f"two verifiers have the same name: {', '.join(names)}")
    return ClaimScorer(
        verifiers=verifiers,
        extractor=LLMExtractor(_tier(extractor, models), models) if extractor else RuleExtractor(),
        context=items(context),
        get_context=get_context,
        scale=float(scale),
        code=code,
        retriever=retriever,
        recall=recall,
        correct=correct,
        models=models,
    )


def _tier(tier: Tier | str, models: Models) -> Tier:
    return models.tier(tier) if isinstance(tier, str) else tier


def _verifier(model: Model, models: Models, nli: NLISettings | None) -> ClaimVerifier:
    if model == "nli":
        from ancrage.verify.nli import NLIVerifier

        return NLIVerifier.load(nli, models.config)
    if isinstance(model, str | Tier):
        name = model if isinstance(model, str) else model.model
        return LLMVerifier(_tier(model, models), models, name=name)
    return model
