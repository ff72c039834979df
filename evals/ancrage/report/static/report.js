/* Draws the answers from the compressed index and blocks beside it. Text only ever enters the
   page as text nodes. */
(async () => {
  const PAGE = 150;
  const FILTERS = ["q", "mode", "show", "state", "study", "fails", "why"];
  const KEPT = 8;
  const blocks = [...document.querySelectorAll("script.block")];
  const { modes: MODES, tiers: TIERS, block: BLOCK, rows } = await unpack(document.querySelector("script.index").textContent);
  rows.forEach((row, index) => { row.n = index; });
  const number = new Map(rows.map((row, index) => [row.id, index]));
  const title = (mode) => MODES[mode] || mode;

  /* The bodies of a block's answers; the last few blocks stay unpacked. */
  const unpacked = new Map();
  function bodiesOf(at) {
    const found = unpacked.get(at) || unpack(blocks[at].textContent);
    unpacked.delete(at);
    unpacked.set(at, found);
    if (unpacked.size > KEPT) unpacked.delete(unpacked.keys().next().value);
    return found;
  }
  const bodyOf = async (index) => (await bodiesOf(Math.floor(index / BLOCK)))[index % BLOCK];

  const findings = (row) => Object.values(row.modes).reduce((sum, n) => sum + n, 0);
  const plain = (state) => state.replaceAll("_", " ");
  const words = (text) => fold(text || "").split(/\s+/).filter(Boolean);

  /* The address says all there is to know: filters, order, open answer, chosen finding. */
  let view = {};
  const address = (changes) => {
    const parameters = new URLSearchParams();
    for (const [key, value] of Object.entries({ ...view, ...changes })) if (value) parameters.set(key, value);
    return "#" + parameters;
  };
  const go = (changes) => { history.pushState(null, "", address(changes)); route(); };
  const adjust = (changes) => { history.replaceState(null, "", address(changes)); route(); };

  /* --- the list ------------------------------------------------------------------------ */
  let shown = [];
  let drawn = 0;
  let drawnFor = null;
  let haystacks = null;

  /* What a search looks through, unpacked once; the list is drawn again when it is there. */
  async function fillHaystacks() {
    haystacks = [];
    for (let at = 0; at < blocks.length; at += 1) {
      for (const body of await unpack(blocks[at].textContent)) {
        const row = rows[haystacks.length];
        haystacks.push(fold([
          row.id, row.study, row.state, body.question, body.reason, body.answer.map((part) => part[0]).join(""),
          ...body.findings.flatMap((f) => [title(f.mode), f.mode, f.explanation, f.tier, f.diagnosis, f.source ? f.source.id : ""]),
        ].join("\n")));
      }
      $("count").textContent = `Searching: ${haystacks.length} of ${plural(rows.length, "answer")}…`;
    }
    drawnFor = null;
    route();
  }

  function matches(row, index, query) {
    const { mode, show } = view;
    const has = mode ? mode in row.modes : Object.keys(row.modes).length > 0;
    const open = mode ? row.unscored.includes(mode) : row.unscored.length > 0;
    if (show === "findings" && !has) return false;
    if (show === "unscored" && !open) return false;
    if (show === "clear" && (has || open || row.state !== "ok")) return false;
    if (show === "silent" && !(row.anchors && row.anchors[0] === 0)) return false;
    if (view.fails && !row.fails.includes(view.fails)) return false;
    if (view.why && !row.why.includes(Number(view.why) - 1)) return false;
    if (view.state && row.state !== view.state) return false;
    if (view.study && row.study !== view.study) return false;
    return query.every((word) => (haystacks[index] || "").includes(word));
  }

  const weight = (row) => (view.mode ? row.modes[view.mode] ?? -1 : findings(row));
  const KEYS = {
    findings: (a, b) => weight(b) - weight(a) || findings(b) - findings(a),
    question: (a, b) => a.question.localeCompare(b.question),
    study: (a, b) => a.study.localeCompare(b.study),
    state: (a, b) => a.state.localeCompare(b.state),
    id: (a, b) => a.id.localeCompare(b.id, undefined, { numeric: true }),
  };

  function select() {
    const query = words(view.q);
    if (query.length && !haystacks) { haystacks = []; fillHaystacks(); }
    shown = rows.filter((row, index) => matches(row, index, query));
    const [key, reverse] = (view.sort || "findings").startsWith("-") ? [view.sort.slice(1), -1] : [view.sort || "findings", 1];
    const order = KEYS[key] || KEYS.findings;
    shown.sort((a, b) => reverse * order(a, b) || a.n - b.n);
    for (const button of document.querySelectorAll("[data-sort]")) {
      const th = button.closest("th");
      if (button.dataset.sort !== key) th.removeAttribute("aria-sort");
      else th.setAttribute("aria-sort", (reverse === 1) === (key !== "findings") ? "ascending" : "descending");
    }
  }

  function drawList() {
    const key = address({ case: "", finding: "" });
    if (drawnFor === key) return;
    drawnFor = key;
    select();
    for (const name of FILTERS) if ($(name).value !== (view[name] || "")) $(name).value = view[name] || "";
    $("clear").hidden = !FILTERS.some((name) => view[name]);
    $("count").textContent = shown.length === rows.length
      ? `All ${plural(rows.length, "answer")}`
      : shown.length ? `${shown.length} of ${plural(rows.length, "answer")}` : "No answer matches. Clear the filters to see all of them.";
    $("rows").replaceChildren();
    drawn = 0;
    drawMore();
  }

  function drawMore() {
    const part = document.createDocumentFragment();
    for (const row of shown.slice(drawn, drawn + PAGE)) part.append(drawRow(row));
    drawn = Math.min(drawn + PAGE, shown.length);
    $("rows").append(part);
    $("more").hidden = drawn >= shown.length;
    if (!openCase) markHits($("rows"), words(view.q));
  }

  function drawRow(row) {
    const total = view.mode ? row.modes[view.mode] ?? 0 : findings(row);
    const marks = Object.keys(MODES).filter((mode) => mode in row.modes)
      .map((mode) => h("span", { class: "tag" }, title(mode), row.modes[mode] > 1 ? h("b", {}, ` ×${row.modes[mode]}`) : null));
    if (row.unscored.length) marks.push(h("span", { class: "tag unscored" }, `${row.unscored.length} unscored`));
    return h("tr", { "data-id": row.id, class: row.state === "ok" ? null : "not-ok" },
      h("td", { class: total ? "n strong" : "n none" }, row.state === "ok" ? String(total) : "–"),
      h("td", { class: "asked" }, h("a", { href: address({ case: row.id, finding: "" }), dir: "auto" }, row.question || "(no question)")),
      h("td", { class: "tags" }, marks),
      h("td", { class: "study" }, row.study),
      h("td", { class: "state" }, row.state === "ok" ? h("span", { class: "none" }, "ok") : h("span", { class: "tag state" }, plain(row.state))),
      h("td", { class: "id" }, h("code", {}, row.id)));
  }

  /* --- one answer ------------------------------------------------------------------------ */
  let openCase = null;
  let contextOpen = false;

  /* What a click or Enter on an element does. */
  const activate = (action) => ({
    onclick: action,
    onkeydown: (event) => {
      if (event.key !== "Enter" || event.target !== event.currentTarget) return;
      event.preventDefault();
      event.stopPropagation();
      action(event);
    },
  });
  const name = (source) => [source.respondent, source.id].filter(Boolean).join(", ");
  const marked = (parts, tag) => parts.map(([text, spans]) => (spans.length ? h(tag, {}, text) : text));
  const facts = (pairs) => h("dl", {}, pairs.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]));

  /* Markdown as it is meant; its marks stay in the text, unseen, so that nothing moves. */
  const MARKDOWN = /(?<head>^#{1,6} )(?<title>[^\n]+)|(?<bullet>^[ \t]*[-*+] )|(?<row>^\|[^\n]*\|[ \t]*$)|(?<bolds>\*\*)(?<bold>[^*\n]+)\*\*|(?<codes>`)(?<code>[^`\n]+)`/gm;
  function dressed(text, atLineStart) {
    const parts = [];
    const unseen = (mark) => h("span", { class: "md" }, mark);
    let from = 0;
    for (const found of text.matchAll(MARKDOWN)) {
      const { head, title, bullet, row, bolds, bold, codes, code } = found.groups;
      if (found.index === 0 && !atLineStart && (head || bullet || row)) continue;
      parts.push(text.slice(from, found.index));
      if (head) parts.push(unseen(head), h("b", { class: "heading" }, title));
      else if (bullet) parts.push(h("span", { class: "bullet" }, unseen(bullet)));
      else if (row) parts.push(h("span", { class: "row" }, row));
      else if (bold) parts.push(unseen(bolds), h("b", {}, bold), unseen(bolds));
      else parts.push(unseen(codes), h("code", {}, code), unseen(codes));
      from = found.index + found[0].length;
    }
    parts.push(text.slice(from));
    return parts;
  }

  function drawAnswer(body) {
    const opens = body.answer.map((_, at) => at === 0 || body.answer[at - 1][0].endsWith("\n"));
    const last = new Map();
    body.answer.forEach(([, spans], at) => spans.forEach((span) => last.set(span, at)));
    return h("div", { class: "answer", dir: "auto" },
      body.answer.flatMap(([text, spans, passed], at) => {
        if (!spans.length && !passed.length) return dressed(text, opens[at]);
        if (!spans.length) {
          const quote = body.passed[passed[0]];
          return h("span", { class: "passed", tabindex: "0", role: "link", title: `${quote.tier} ${quote.words}: ${name(quote.source)}`, ...activate(() => reveal(passed[0])) }, text);
        }
        const ending = spans.filter((span) => last.get(span) === at).map((span) => span + 1);
        return h("mark", {
          class: spans.length > 1 ? "several" : null, tabindex: "0", role: "link", "data-spans": spans.join(" "),
          "data-n": ending.join(" ") || null, "aria-details": `finding-${spans[0] + 1}`,
          ...activate(() => follow(spans)),
        }, text);
      }));
  }

  function drawSource(source, difference) {
    if (!source) return null;
    if (source.absent) return h("p", { class: "absent" }, h("code", {}, source.id), ` ${source.absent}`);
    const near = (brief, label) => brief && h("p", { class: "near", dir: "auto" }, h("span", { class: "label" }, `${label} `, h("code", {}, brief[0])), " ", brief[1]);
    return h("figure", { class: "source" },
      h("figcaption", {}, h("code", {}, name(source)), source.language && ` · ${source.language}`, source.asked && h("span", { class: "asked" }, source.asked)),
      h("blockquote", { dir: "auto", lang: source.language || null }, marked(source.text, "mark")),
      difference.length ? h("p", { class: "difference", dir: "auto" }, h("span", { class: "label" }, "Source → answer "),
        difference.map(([kind, text]) => (kind === "same" ? text : h(kind === "added" ? "ins" : "del", {}, text)))) : null,
      source.before || source.after
        ? h("details", {}, h("summary", {}, "Same respondent, before and after"), near(source.before, "before"), near(source.after, "after")) : null);
  }

  function drawFinding(finding, at, count) {
    const toPassage = (event) => {
      if (event.type === "keydown") choose(at, "passage", true);
      else if (!event.target.closest("summary, a, details") && !String(getSelection())) choose(at, "passage");
    };
    return h("article", { class: "finding", id: `finding-${at + 1}`, tabindex: "0", "aria-label": `Finding ${at + 1} of ${count}: ${title(finding.mode)}`, ...activate(toPassage) },
      h("header", {}, h("span", { class: "number" }, String(at + 1)), h("h3", {}, title(finding.mode)),
        finding.tier || finding.diagnosis ? h("span", { class: "tier" }, [finding.tier, finding.diagnosis].filter(Boolean).join(" ")) : null),
      h("p", { class: "explanation", dir: "auto" }, finding.explanation),
      finding.passage ? null : h("p", { class: "label" }, "About the answer as a whole."),
      drawSource(finding.source, finding.difference),
      finding.cited.map((cited) => h("details", {}, h("summary", {}, "Cited: ", h("code", {}, name(cited))), drawSource(cited, []))),
      finding.details.length ? h("details", {}, h("summary", {}, "Details"), facts(finding.details)) : null);
  }

  function drawPassed(passed) {
    return passed.length ? h("details", { class: "passed-quotes", id: "passed" },
      h("summary", {}, `${plural(passed.length, "quote")} passed`),
      passed.map((quote, at) => h("article", { id: `passed-${at + 1}`, tabindex: "-1" },
        h("p", { class: "good" }, `${quote.tier} ${quote.words}`),
        h("p", { class: "words", dir: "auto" }, quote.passage),
        quote.warnings.map((warning) => h("p", { class: "warning" }, warning)),
        drawSource(quote.source, [])))) : null;
  }

  function reveal(at) {
    $("passed").open = true;
    $(`passed-${at + 1}`).scrollIntoView({ block: "nearest" });
    $(`passed-${at + 1}`).focus({ preventScroll: true });
  }

  function drawScores(body, row) {
    const list = body.scores.map(([mode, value, reason]) => h("li", { class: value === null ? "unscored" : value > 0 ? "bad" : "good" },
      h("span", {}, title(mode)), h("b", {}, value === null ? "unscored" : String(value)), value === null && reason ? h("span", { class: "reason" }, reason) : null));
    return h("section", { class: "scores" }, h("h3", {}, "Scores"), list.length ? h("ul", {}, list) : h("p", { class: "label" }, row.state === "ok" ? "Not scored yet." : "None: there is no usable answer."));
  }

  function drawContext(context) {
    const block = (name, children) => children.length ? [h("h3", {}, name), ...children] : [];
    const parts = [
      ...block("Conversation before", context.history.map(([role, text]) => h("div", { class: "turn" }, h("span", { class: "label" }, role), h("div", { class: "said", dir: "auto" }, text)))),
      ...block("Tool calls", context.tools.map(([name, given, output, error]) => h("details", { class: "tool" },
        h("summary", {}, h("code", {}, name), error ? h("span", { class: "tag state" }, "error") : null),
        h("pre", {}, given), error ? h("pre", { class: "error" }, error) : null, h("pre", {}, output)))),
      ...block("System prompt", context.system ? [h("pre", {}, context.system)] : []),
      ...block("Provenance", context.facts.length ? [facts(context.facts)] : []),
    ];
    return parts.length ? h("details", { class: "context", open: contextOpen, ontoggle: (event) => { contextOpen = event.target.open; } },
      h("summary", {}, `Context: ${plural(context.history.length, "earlier turn")}, ${plural(context.tools.length, "tool call")}, provenance`), parts) : null;
  }

  function drawCase(row, body) {
    const count = body.findings.length;
    openCase = { row, body };
    $("case").replaceChildren(
      h("header", { class: "asked-header" },
        h("p", { class: "meta" }, h("code", {}, row.id), row.study && ` · ${row.study}`, ` · ${plain(row.state)}`),
        h("h1", { class: "question", dir: "auto" }, body.question || "(no question)"),
        row.state === "ok" ? null : h("p", { class: "notice" }, h("strong", {}, plain(row.state)), body.reason ? `: ${body.reason}` : ""),
        body.missing ? h("p", { class: "notice" }, h("strong", {}, "source missing"), `: ${body.missing}`) : null),
      h("div", { class: "columns" },
        h("section", { class: "reading", "aria-label": "Answer" },
          body.answer.length ? drawAnswer(body) : h("p", { class: "label" }, "There is no answer text."),
          drawScores(body, row), drawContext(body.context)),
        h("aside", { class: "findings", "aria-label": "Findings" },
          h("h2", {}, count ? plural(count, "finding") : "No finding"),
          count ? null : h("p", { class: "label" }, row.state === "ok" ? (row.unscored.length ? "Not every failure mode could be scored: see the reasons under the answer." : body.scores.length ? "Every check that scored this answer passed it." : "No check has scored this answer.") : "An answer that is not usable is not checked."),
          body.findings.map((finding, at) => drawFinding(finding, at, count)),
          drawPassed(body.passed),
          body.findings.some((finding) => finding.tier) || body.passed.length ? drawLegend() : null)));
  }

  const drawLegend = () => h("details", { class: "legend" }, h("summary", {}, "What T0 to T7 mean"),
    facts(Object.entries(TIERS)), h("p", { class: "label" }, "T0 to T3 pass."));

  /* Marks and cards point at each other; a passage with several findings goes round them. */
  function follow(spans) {
    const current = Number(view.finding) - 1;
    const at = spans.includes(current) ? spans[(spans.indexOf(current) + 1) % spans.length] : spans[0];
    choose(at, "card", true);
  }

  function choose(at, target, focus) {
    history.replaceState(null, "", address({ finding: String(at + 1) }));
    view.finding = String(at + 1);
    highlight(target, focus);
  }

  function highlight(target, focus) {
    const at = Number(view.finding) - 1;
    for (const card of document.querySelectorAll(".finding")) card.classList.toggle("current", card.id === `finding-${at + 1}`);
    let first = null;
    for (const mark of document.querySelectorAll(".answer mark")) {
      const on = mark.dataset.spans.split(" ").includes(String(at));
      mark.classList.toggle("current", on);
      if (on) first ||= mark;
    }
    const card = $(`finding-${at + 1}`);
    const reached = target === "passage" ? first : card;
    const other = target === "passage" ? card : first;
    if (other) other.scrollIntoView({ block: "nearest" });
    if (reached) {
      reached.scrollIntoView({ block: "nearest" });
      if (focus) reached.focus({ preventScroll: true });
    }
  }

  function step(by) {
    const at = openCase ? shown.indexOf(openCase.row) : -1;
    const next = shown[at === -1 ? 0 : at + by];
    if (next) { history.replaceState(null, "", address({ case: next.id, finding: "" })); route(); }
  }

  function stepFinding(by) {
    const count = openCase.body.findings.length;
    if (!count) return;
    const current = Number(view.finding) || 0;
    choose(((current || (by > 0 ? 0 : 1)) - 1 + by + count) % count, "card", true);
  }

  /* --- going from one to the other --------------------------------------------------------- */
  let routes = 0;

  async function route() {
    const mine = routes += 1;
    delete document.body.dataset.ready;
    view = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
    drawList();
    const index = view.case ? number.get(view.case) : undefined;
    const open = index !== undefined;
    const was = openCase && openCase.row;
    $("unknown").hidden = open || !view.case;
    $("unknown").textContent = `There is no answer ${view.case} in this report.`;
    if (open && rows[index] !== was) {
      const body = await bodyOf(index);
      if (mine !== routes) return;
      drawCase(rows[index], body);
      scrollTo(0, 0);
    }
    $("overview").hidden = open;
    $("case").hidden = !open;
    $("pager").hidden = !open;
    document.body.classList.toggle("reading-case", open);
    if (open) {
      const at = shown.indexOf(rows[index]);
      $("place").textContent = at === -1 ? `outside the filter` : `${at + 1} of ${shown.length}`;
      $("previous").disabled = at <= 0;
      $("next").disabled = at === shown.length - 1;
      $("crumb").textContent = view.mode ? title(view.mode) : document.title.split(" · ")[0];
      $("home").textContent = "← Answers";
      $("home").setAttribute("href", address({ case: "", finding: "" }));
      if (rows[index] !== was) $("case").focus({ preventScroll: true });
      if (!view.finding && view.mode) {
        const first = openCase.body.findings.findIndex((finding) => finding.mode === view.mode);
        if (first >= 0) view.finding = String(first + 1);
      }
      if (view.finding) highlight("passage");
    } else {
      $("home").textContent = "Ancrage";
      $("crumb").textContent = document.title.split(" · ")[0];
      openCase = null;
      if (was) focusRow(was.id);
    }
    markAll();
    document.body.dataset.ready = "true";
  }

  const markAll = () => markHits(openCase ? $("case") : $("rows"), words(view.q));

  function focusRow(id) {
    const at = shown.findIndex((row) => row.id === id);
    while (at >= drawn && drawn < shown.length) drawMore();
    const link = [...$("rows").children].find((tr) => tr.dataset.id === id);
    if (link) { link.querySelector("a").focus(); link.scrollIntoView({ block: "center" }); }
  }

  function moveRow(by) {
    const here = document.activeElement && document.activeElement.closest("#rows tr");
    const rowsShown = $("rows").children;
    let at = here ? [...rowsShown].indexOf(here) + by : by > 0 ? 0 : -1;
    if (at >= drawn) drawMore();
    const link = rowsShown[at] && rowsShown[at].querySelector("a");
    if (link) { link.focus(); link.closest("tr").scrollIntoView({ block: "nearest" }); }
  }

  const close = () => go({ case: "", finding: "" });
  const LIST_KEYS = { j: () => moveRow(1), ArrowDown: () => moveRow(1), k: () => moveRow(-1), ArrowUp: () => moveRow(-1) };
  const CASE_KEYS = {
    j: () => step(1), ArrowRight: () => step(1), k: () => step(-1), ArrowLeft: () => step(-1),
    n: () => stepFinding(1), p: () => stepFinding(-1), Escape: close,
  };
  const KEYS_EVERYWHERE = {
    "/": () => { if (openCase) close(); $("q").focus(); $("q").select(); },
    "?": () => $("help").showModal(),
    t: () => cycleTheme(),
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || $("help").open) return;
    const typing = event.target.closest("input, select, textarea");
    if (typing) {
      if (event.key === "Escape") { typing.blur(); event.preventDefault(); }
      if (event.key === "Enter" && typing.id === "q") { moveRow(1); event.preventDefault(); }
      return;
    }
    const action = (openCase ? CASE_KEYS : LIST_KEYS)[event.key] || KEYS_EVERYWHERE[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });

  /* --- start ---------------------------------------------------------------------------------- */
  $("without-script").hidden = true;
  $("filters").hidden = false;
  for (const study of [...new Set(rows.map((row) => row.study))].filter(Boolean).sort()) $("study").append(h("option", { value: study }, study));
  for (const name of ["study", "fails", "why"]) $(name).closest("label").hidden = $(name).options.length < (name === "study" ? 3 : 2);
  let pending = 0;
  $("q").addEventListener("input", () => { clearTimeout(pending); pending = setTimeout(() => adjust({ q: $("q").value.trim() }), 120); });
  for (const name of FILTERS.slice(1)) $(name).addEventListener("change", () => {
    const changes = { [name]: $(name).value };
    if (name === "mode" && $("mode").value && !view.show) changes.show = "findings";
    if (name === "mode" && !$("mode").value && view.show === "findings") changes.show = "";
    go(changes);
  });
  $("filters").addEventListener("submit", (event) => event.preventDefault());
  $("filters").addEventListener("reset", (event) => { event.preventDefault(); go(Object.fromEntries(FILTERS.map((name) => [name, ""]))); });
  for (const button of document.querySelectorAll("[data-sort]")) button.addEventListener("click", () => {
    const key = button.dataset.sort;
    adjust({ sort: (view.sort || "findings") === key ? `-${key}` : key });
  });
  for (const link of document.querySelectorAll(".overview a, .anchors a, .reasons a")) link.addEventListener("click", (event) => {
    event.preventDefault();
    go({ ...Object.fromEntries(FILTERS.map((name) => [name, ""])), ...Object.fromEntries(new URLSearchParams(link.getAttribute("href").slice(1))) });
    $("answers-title").scrollIntoView();
    $("answers-title").focus({ preventScroll: true });
  });
  $("rows").addEventListener("click", (event) => {
    const tr = event.target.closest("tr");
    if (tr && !event.target.closest("a") && !String(getSelection())) go({ case: tr.dataset.id, finding: "" });
  });
  $("more").addEventListener("click", drawMore);
  new IntersectionObserver((entries) => { if (entries.some((entry) => entry.isIntersecting)) drawMore(); }, { rootMargin: "600px" }).observe($("more"));
  $("previous").addEventListener("click", () => step(-1));
  $("next").addEventListener("click", () => step(1));
  $("theme").addEventListener("click", cycleTheme);
  $("help-button").addEventListener("click", () => $("help").showModal());
  addEventListener("popstate", route);
  addEventListener("hashchange", route);
  addEventListener("beforeprint", () => { while (!openCase && drawn < Math.min(shown.length, 2000)) drawMore(); });
  setTheme(rememberedTheme());
  await route();
})();
