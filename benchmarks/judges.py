"""Judges: coverage of intervals, ten thousand payloads, attacks, wall time against ideal.

Run ``python -m benchmarks.judges``; one name (``coverage``, ``fuzz``, ``attacks``, ``time`` or
``live``) runs that part alone. Coverage is over simulated calibrations with the intervals that
the reports use; each row states its own Monte-Carlo error.
"""

import asyncio
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from ancrage.calibration.measure import confusion, corrected, measure
from ancrage.calibration.pairs import ModeCalibration, Pair
from ancrage.config import Config
from ancrage.domain import ScoreState
from ancrage.judges import Judge
from ancrage.judges.account import Account, accounts
from ancrage.judges.contract import read, reply_model, unscored
from ancrage.judges.settle import Settled
from ancrage.llm import Models, Tier, parse_json
from ancrage.runs import create_run, recorded, run_experiment
from ancrage.studies import Studies
from tests.builders import case, snapshot
from tests.judges.scripted import definition, obliging
from tests.servers.openai_server import OpenAIServer

SIMULATIONS = 4_000
LABELLED = 150
TRAFFIC = 1_500


def mode_of(truth: np.ndarray, judged: np.ndarray) -> ModeCalibration:
    """A calibration on these labels and verdicts."""
    pairs = tuple(
        Pair(case_id=f"c{at}", answer="a", truth=bool(t), judged=bool(j))
        for at, (t, j) in enumerate(zip(truth, judged, strict=True))
    )
    return ModeCalibration(
        mode="vague", judge="j", version="v", model="m", labelled=len(pairs), unscored=0,
        disputed=0, undecided=0, absent=0, stale=0, pairs=pairs, annotators={"ana": len(pairs)},
        ratings=(),
    )  # fmt: skip


def coverage() -> None:
    """How often each interval holds the value that the simulation was made with."""
    rng = np.random.default_rng(11)
    held: Counter[str] = Counter()
    tries: Counter[str] = Counter()
    refused = 0

    def note(name: str, interval: tuple[float, float] | None, value: float) -> None:
        if interval is None:
            return
        tries[name] += 1
        held[name] += interval[0] <= value <= interval[1]

    def judge(truth: np.ndarray) -> np.ndarray:
        chance = np.where(truth, sensitivity, 1 - specificity)
        return rng.random(truth.size) < chance

    for _ in range(SIMULATIONS):
        prevalence = rng.uniform(0.1, 0.5)
        sensitivity, specificity = rng.uniform(0.65, 0.97), rng.uniform(0.65, 0.97)
        traffic = rng.random(TRAFFIC) < prevalence
        said = judge(traffic)
        mode = mode_of(traffic[:LABELLED], said[:LABELLED])
        found = measure(mode)
        note("sensitivity (TPR)", found.sensitivity, sensitivity)
        note("specificity (TNR)", found.specificity, specificity)
        alarms = prevalence * sensitivity + (1 - prevalence) * (1 - specificity)
        note("precision", found.precision, prevalence * sensitivity / alarms)
        agreed = prevalence * sensitivity + (1 - prevalence) * specificity
        note("raw agreement", found.agreement.raw_interval, agreed)
        chance = prevalence * alarms + (1 - prevalence) * (1 - alarms)
        note("kappa", found.agreement.kappa_interval, (agreed - chance) / (1 - chance))
        verdicts = {f"c{at}": ("a", bool(j)) for at, j in enumerate(said)}
        ppi = corrected(mode, verdicts, random_sample=True)
        note("corrected rate, PPI++", ppi.interval, prevalence)
        # Labels of other traffic: half of them with the defect.
        labelled = rng.random(LABELLED) < 0.5
        other = mode_of(labelled, judge(labelled))
        rogan = corrected(other, verdicts, random_sample=False)
        refused += rogan.rate is None
        note("corrected rate, Rogan-Gladen", rogan.interval, prevalence)
        table = confusion(mode.pairs)
        raw = said.mean()
        spread = 1.96 * np.sqrt(raw * (1 - raw) / TRAFFIC)
        note("raw judge rate (naive)", (raw - spread, raw + spread), prevalence)
        assert table.n == LABELLED
    print(f"{SIMULATIONS} simulated calibrations, {LABELLED} labels, {TRAFFIC} answers judged")
    for name, n in tries.items():
        rate = held[name] / n
        print(f"  {name:30} {rate:6.1%}  ± {1.96 * np.sqrt(rate * (1 - rate) / n):.1%}")
    print(f"  Rogan-Gladen refused {refused}")


def fuzz() -> None:
    """What becomes of ten thousand random replies."""
    import random

    from tests.judges.test_contract import TEXT
    from tests.judges.test_fuzz import MARK, MODES, PAYLOADS, SEAL, payload

    rng = random.Random(2026)
    model = reply_model(MODES, SEAL)
    settled = {mode: Settled() for mode in MODES}
    outcomes: Counter[str] = Counter()
    fates: Counter[str] = Counter()
    reported = 0
    start = time.perf_counter()
    for _ in range(PAYLOADS):
        value, how, _ = parse_json(payload(rng), model)
        outcomes[how or "unparsable"] += 1
        if value is None:
            reading = unscored(MODES, "unparsable", settled)
        else:
            reading = read(value, MODES, TEXT, MARK, settled)
        reported += reading.reported
        fates.update(reading.fates)
        for score in reading.scores:
            scored = score.state is ScoreState.SCORED
            outcomes["verdicts scored" if scored else "verdicts unscored"] += 1
    seconds = time.perf_counter() - start
    print(f"{PAYLOADS} payloads in {seconds:.1f} s: {dict(outcomes)}")
    print(f"  {reported} defects reported = {sum(fates.values())}: {dict(fates)}")


def attacks() -> None:
    """How many attacks the gullible judge falls for, between tags and between marked lines."""
    from tests.judges.attacks import MODE
    from tests.judges.test_attacks import ATTACKS, gullible, judged, obeys

    naive = sum(obeys(attack.text) for attack in ATTACKS)
    fooled = 0
    for attack in ATTACKS:
        evaluation, _ = asyncio.run(judged(attack.text, gullible))
        (score,) = evaluation.scores
        assert score.name == MODE
        fooled += score.value != 1
    print(f"{len(ATTACKS)} attacks: {naive} succeed between tags, {fooled} between marked lines")


def wall_time() -> None:
    """Wall time of an experiment with judges against calls × latency / concurrency.

    Server and client share the interpreter; the SDK is imported before the clock starts.
    """
    import openai

    latency, answers = 1.0, 320
    print(f"  openai {openai.__version__}")
    for concurrency in (8, 32):
        with (
            tempfile.TemporaryDirectory() as folder,
            OpenAIServer(obliging(lambda _: []), latency=latency) as server,
        ):
            path = Path(folder)
            cases = [case(f"Réponse {n}.", id=f"c{n}") for n in range(answers)]
            data = snapshot(path / "snap", cases)
            run = create_run(data, kind="audit", name="r", root=path / "runs")
            models = Models(Config(None, {}), cache=path / "c.sqlite", concurrency=concurrency)
            tier = Tier(model="m", endpoint=server.url)
            judges = [Judge(definition(f"m{n}", name=f"j{n}"), tier, models) for n in range(3)]
            start = time.perf_counter()
            asyncio.run(
                run_experiment(
                    run, data.cases(), recorded, judges, Studies(data), concurrency=concurrency
                )
            )
            spent = time.perf_counter() - start
            ideal = len(server.calls) * latency / concurrency
            print(
                f"  concurrency {concurrency:2}: {len(server.calls)} calls of {latency} s in "
                f"{spent:.2f} s, ideal {ideal:.2f} s: {ideal / spent:.1%}"
            )


def live() -> None:
    """What a live model of 135 M parameters makes of the shipped judges."""
    from tests.judges.conftest import ANSWERS
    from tests.servers.live_model import live_model

    with tempfile.TemporaryDirectory() as folder, live_model() as url:
        path = Path(folder)
        data = snapshot(path / "snap", [case(t, id=i) for i, t in ANSWERS.items()])
        run = create_run(data, kind="audit", name="r", root=path / "runs")
        models = Models(Config(None, {}), cache=None, concurrency=1)
        tier = Tier(model="smollm2", endpoint=url, max_output_tokens=200, timeout=300)
        judge = Judge(definition("vague", "loud"), tier, models)
        asyncio.run(run_experiment(run, data.cases(), recorded, [judge], Studies(data)))
        found: list[Account] = accounts(run, run.scorings()[-1])
        for each in found:
            print(f"  {each.scored} of {each.verdicts} verdicts; missing: {each.reasons}")
            print(f"  {each.reported} defects reported: {each.fates}; {each.usage.calls} calls")


PARTS: dict[str, Callable[[], None]] = {
    "coverage": coverage,
    "fuzz": fuzz,
    "attacks": attacks,
    "time": wall_time,
    "live": live,
}


def chosen(names: list[str]) -> Iterator[tuple[str, Callable[[], None]]]:
    """The parts named, else all but the live model."""
    for name, part in PARTS.items():
        if name in names or (not names and name != "live"):
            yield name, part


def main() -> None:
    """Run the parts named on the command line."""
    for name, part in chosen(sys.argv[1:]):
        print(f"{name}:")
        part()


if __name__ == "__main__":
    main()
