"""The scorer: claims, verdicts, score."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from ancrage.claims import Claim
from ancrage.domain import Evaluation, FailureMode, OutputState
from ancrage.errors import AncrageError, UsageError
from ancrage.evaluator import Subject
from ancrage.llm import Models, Tier, add_usage
from ancrage.verify.code import Context
from ancrage.verify.context import GetContext, Texts, called, items, resolve
from ancrage.verify.correct import Correct, Recall, corrected
from ancrage.verify.decide import decision_version, settle
from ancrage.verify.evaluation import MODES, NAME, evaluation_of
from ancrage.verify.extract import (
    Extraction,
    Extractor,
    LLMExtractor,
    RuleExtractor,
    claims_of,
)
from ancrage.verify.lookup import Retriever
from ancrage.verify.model import ClaimVerdict, ContextItem, Opinion, Verdict
from ancrage.verify.result import Verification
from ancrage.verify.verifiers import ClaimVerifier, LLMVerifier, Opinions

Model = str | Tier | ClaimVerifier
_PASSAGES = 3
"""Passages looked up for one claim."""


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
        output = run.output
        if output.state is OutputState.EMPTY or (
            output.state is OutputState.OK and not run.text.strip()
        ):
            return self._result(run, empty=True)
        if output.state is not OutputState.OK:
            reason = f"output {output.state}" + (f": {output.reason}" if output.reason else "")
            return self._result(run, problem=reason)
        found = await self.extractor.extract(run)
        if not found.claims:
            return self._result(run, found)
        context = await self._held_against(run, found.claims)
        if isinstance(context, str):
            return self._result(run, found, problem=context)
        said = await self._ask(run, found.claims, context)
        result = self._result(run, found, context, said)
        if self.correct is None:
            return result

        async def check(claim: Claim) -> ClaimVerdict:
            opinions = await self._ask(run, (claim,), context)
            return self._settle(run, (claim,), Context(context), opinions)[0]

        return await corrected(result, run.text, run.case.input.question, self.correct, check)

    async def _ask(
        self, run: Subject, claims: tuple[Claim, ...], context: tuple[ContextItem, ...]
    ) -> list[Opinions]:
        return await asyncio.gather(
            *(_ask(verifier, run, claims, context) for verifier in self.verifiers)
        )

    def _settle(
        self,
        run: Subject,
        claims: tuple[Claim, ...],
        context: Context,
        said: Sequence[Opinions],
        problem: str | None = None,
    ) -> list[ClaimVerdict]:
        return [
            settle(
                claim,
                [opinions.opinions[i] for opinions in said],
                context,
                problem,
                question=run.case.input.question,
                code=self.code,
            )
            for i, claim in enumerate(claims)
        ]

    @property
    def tiers(self) -> dict[str, Tier]:
        """What models it calls, by purpose."""
        return {self._purpose(caller): caller.tier for caller in self._callers}

    async def plan(self, subject: Subject) -> dict[str, list[int]]:
        """The input tokens of each call that an output would take, by purpose; none is made.

        Claims that a model would list are counted as the rules cut them.
        """
        planned = {}
        if isinstance(self.extractor, LLMExtractor):
            planned[self._purpose(self.extractor)] = [self.extractor.tokens(subject)]
        claims = claims_of(subject)
        asked = [verifier for verifier in self.verifiers if isinstance(verifier, LLMVerifier)]
        context = await self._held_against(subject, claims) if claims and asked else ""
        if not isinstance(context, str):
            for verifier in asked:
                planned[self._purpose(verifier)] = [verifier.tokens(subject, claims, context)]
        return planned

    @property
    def _callers(self) -> list[LLMVerifier | LLMExtractor]:
        every = (self.extractor, *self.verifiers)
        return [caller for caller in every if isinstance(caller, LLMVerifier | LLMExtractor)]

    def _purpose(self, caller: LLMVerifier | LLMExtractor) -> str:
        what = caller.name if isinstance(caller, LLMVerifier) else "claims"
        return f"{self.name}: {what}"

    async def aclose(self) -> None:
        """Close the connections that scoring opened."""
        for caller in (*self._callers, *([self.models] if self.models else [])):
            await caller.aclose()

    async def evaluate(self, subject: Subject) -> Evaluation:
        """The score as counts of contradicted and unsupported claims, one finding each."""
        return evaluation_of(await self.score(subject), subject.text, self.name, self.version)

    async def _held_against(
        self, run: Subject, claims: Sequence[Claim]
    ) -> tuple[ContextItem, ...] | str:
        """The context of a run with what was looked up for its claims, or why there is none."""
        try:
            context = await resolve(self.get_context, run) if self.get_context else self.context
        except Exception as error:  # noqa: BLE001  the user's function can fail in any way
            return f"get_context raised {type(error).__name__}: {error}"
        question = run.case.input.question
        if not context and self.recall and question:
            recalled = await self.recall(question)
            context = (ContextItem(text=recalled, id="recalled"),) if recalled else ()
        if self.retriever:
            passages = dict.fromkeys(
                passage
                for claim in claims
                for passage in self.retriever.search(claim.statement, _PASSAGES)
            )
            context += tuple(ContextItem(text=text, id="looked up") for text in passages)
        whose = "get_context found no context" if self.get_context else "the context is empty"
        return context or f"{whose}: nothing to hold claims against"

    def _result(
        self,
        run: Subject,
        found: Extraction | None = None,
        context: tuple[ContextItem, ...] = (),
        said: Sequence[Opinions] = (),
        *,
        problem: str | None = None,
        empty: bool = False,
    ) -> Verification:
        claims = found.claims if found else ()
        spent = [found.usage if found else None, *(opinions.usage for opinions in said)]
        usages = [usage for usage in spent if usage]
        return Verification.of(
            run_id=run.case.id,
            claims=claims,
            verdicts=self._settle(run, claims, Context(context), said, problem),
            scale=self.scale,
            empty=empty,
            problem=problem,
            context=context,
            prompts=(
                *(found.prompts if found else ()),
                *(p for opinions in said for p in opinions.prompts),
            ),
            versions=self.versions | ({"extractor": found.version} if found else {}),
            notes=(
                *(found.notes if found else ()),
                *(n for opinions in said for n in opinions.notes),
            ),
            usage=add_usage(usages) if usages else None,
        )


async def _ask(
    verifier: ClaimVerifier,
    run: Subject,
    claims: tuple[Claim, ...],
    context: tuple[ContextItem, ...],
) -> Opinions:
    """One opinion a claim, whatever the verifier does."""
    try:
        said = await called(verifier.verify, run, claims, context)
    except (AncrageError, asyncio.CancelledError):
        raise
    except Exception as error:  # noqa: BLE001  a faulty verifier leaves its claims unscored
        reason = f"raised {type(error).__name__}: {error}"
        return _silent(verifier.name, reason, len(claims))
    if len(said.opinions) != len(claims):
        reason = f"gave {len(said.opinions)} opinions on {len(claims)} claims"
        return _silent(verifier.name, reason, len(claims))
    return said


def _silent(name: str, reason: str, count: int) -> Opinions:
    opinion = Opinion(verifier=name, verdict=Verdict.UNSCORED, reason=reason)
    return Opinions((opinion,) * count)


def claim_scorer(
    model: Model | Sequence[Model] | None,
    *,
    scale: float = 1.0,
    context: Texts = (),
    get_context: GetContext | None = None,
    extractor: Tier | str | None = None,
    models: Models | None = None,
    code: bool = True,
    retriever: Retriever | None = None,
    recall: Recall | None = None,
    correct: Correct | None = None,
) -> ClaimScorer:
    """A scorer of outputs by their claims: hallucinated claims / claims × ``scale``.

    Args:
        model: who gives verdicts: the name of a tier of the configuration, a ``Tier``, ``"nli"``
            for the NLI model of ``[nli]``, any ``ClaimVerifier``, or several of these, the first
            of which is followed where they disagree. None asks no model: only figures, dates and
            verbatim claims get a verdict.
        scale: the score of an output of which every claim is hallucinated.
        context: the texts that claims are held against.
        get_context: finds them for each run when it is scored; prevails over ``context``.
        extractor: a tier whose model lists the claims; by default rules do.
        models: the client to call models with, its budget and its cache of answers.
        code: whether figures, dates and words are compared by code.
        retriever: finds passages for each claim, added to the context.
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
    verifiers = tuple(_verifier(chosen, models) for chosen in listed)
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


def _verifier(model: Model, models: Models) -> ClaimVerifier:
    if model == "nli":
        from ancrage.verify.nli import NLIVerifier

        return NLIVerifier.load(config=models.config)
    if isinstance(model, str):
        return LLMVerifier(models.tier(model), models, name=model)
    if isinstance(model, Tier):
        return LLMVerifier(model, models, name=model.model)
    return model
