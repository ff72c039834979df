"""Where failures live, as a section of the HTML report."""

from urllib.parse import quote

from markupsafe import Markup

from ancrage.report.data import Section
from ancrage.report.text import line
from ancrage.slices.find import Found, SliceFinding, looked_at

_SHOWN = 12
"""Cases linked beside a sentence; the others stand folded below."""


def slices_section(found: Found) -> Section:
    """A sentence a finding with links to its cases, and how much was looked at."""
    said = Markup('<p class="note">{}{}</p>').format(
        "Nothing stands out. " if found.looked and not found.findings else "", looked_at(found)
    )
    items = Markup("").join(map(_item, found.findings))
    body = Markup('<ul class="slices">{}</ul>').format(items) + said if items else said
    return Section("Where failures live", body=body)


def _item(finding: SliceFinding) -> Markup:
    shown = _links(finding.cases[:_SHOWN])
    if rest := finding.cases[_SHOWN:]:
        shown += Markup("<details><summary>{} more</summary>{}</details>").format(
            len(rest), _links(rest)
        )
    return Markup(
        '<li>{} <span class="label">p {:.3f}</span><div class="cases">{}</div></li>'
    ).format(line(finding.sentence), finding.p, shown)


def _links(cases: tuple[str, ...]) -> Markup:
    return Markup(" ").join(
        Markup('<a href="#case={}"><code>{}</code></a>').format(quote(case, safe=""), line(case))
        for case in cases
    )
