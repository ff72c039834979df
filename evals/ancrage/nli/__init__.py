"""Natural language inference: the model, its windows, thresholds and calibration.

Torch and transformers are imported when a model is loaded, not before.
"""

from ancrage.nli.model import Judged, NLIModel
from ancrage.nli.rules import Rule, rule_of
from ancrage.nli.settings import NLISettings

__all__ = ["Judged", "NLIModel", "NLISettings", "Rule", "rule_of"]
