/* The comparison: the matrix of cases and runs, and one case with its answers side by side. */
const PAGE = 200;
const MARKS = { 0: ["pass", "✓", "passes"], 1: ["fail", "✕", "fails"], u: ["unscored", "?", "unscored"], m: ["missing", "–", "no answer"], "-": ["absent", "", "not in the run"] };
const FILTERS = ["q", "mode", "show", "study"];
const state = { rows: [], shown: PAGE, current: -1, sort: "", down: false };
const blocks = new Map();
let data;

/* The share of a side's known verdicts that fail; null without any. */
function rate(mode, side, at) {
  let known = 0, fails = 0;
  data.runs.forEach((run, column) => {
    const code = run.side === side ? data.outcomes[mode][column][at] : "-";
    if (code === "0" || code === "1") { known += 1; fails += Number(code); }
  });
  return known ? fails / known : null;
}
/* For each later side what became of a case in one mode: above 0 it got worse, below better. */
function moves(mode, at) {
  const before = rate(mode, 0, at);
  return data.compared[mode].map((compared, later) => {
    const after = compared && before !== null ? rate(mode, later + 1, at) : null;
    return after === null ? null : after - before;
  });
}
const isWorse = (move) => move !== null && move > 0;
function tests(show) {
  const codes = (mode, at) => data.outcomes[mode].map((column) => column[at]);
  return {
    held: (mode, at) => { const m = moves(mode, at); return m.length > 0 && m.every(isWorse); },
    worse: (mode, at) => moves(mode, at).some(isWorse),
    better: (mode, at) => moves(mode, at).some((move) => move !== null && move < 0),
    changed: (mode, at) => moves(mode, at).some((move) => move),
    failing: (mode, at) => codes(mode, at).includes("1"),
    unscored: (mode, at) => codes(mode, at).some((code) => code === "u" || code === "m"),
    flips: (mode, at) => data.sides.some((_, side) => { const share = rate(mode, side, at); return share !== null && share > 0 && share < 1; }),
  }[show];
}

/* The answers of a case: unpacked block by block when first asked for. */
async function block(number) {
  if (!blocks.has(number)) blocks.set(number, unpack($(`block-${number}`).textContent));
  return blocks.get(number);
}
async function detail(at) {
  const place = data.kept.indexOf(at);
  return place < 0 ? null : (await block(Math.floor(place / data.block)))[place % data.block];
}

const hash = () => new URLSearchParams(location.hash.slice(1));
function go(changes, replace = false) {
  const next = hash();
  for (const [name, value] of Object.entries(changes)) if (value) next.set(name, value); else next.delete(name);
  const address = `#${next}`;
  if (replace) history.replaceState(null, "", address); else history.pushState(null, "", address);
  draw();
}

let asked = 0;
async function filtered() {
  const wanted = hash();
  const mode = data.modes.findIndex(([name]) => name === wanted.get("mode"));
  const modes = mode < 0 ? data.modes.map((_, at) => at) : [mode];
  const test = tests(wanted.get("show"));
  const study = wanted.get("study");
  const words = fold(wanted.get("q") || "").split(/\s+/).filter(Boolean);
  let rows = data.cases.map((_, at) => at).filter((at) => (!study || data.studies[at] === study) && (!test || modes.some((m) => test(m, at))));
  if (words.length) {
    const texts = new Map();
    for (let number = 0; number * data.block < data.kept.length; number += 1) {
      const content = await block(number);
      content.forEach((runs, place) => texts.set(data.kept[number * data.block + place], runs));
    }
    rows = rows.filter((at) => {
      const said = (texts.get(at) || []).filter(Boolean).map((run) => [run.pieces.filter(([kind]) => kind !== "removed").map((piece) => piece[1]).join(""), ...run.findings.map((f) => `${f.title} ${f.explanation} ${f.passage}`)].join(" "));
      const text = fold([data.cases[at], data.studies[at], data.questions[at], ...said].join(" "));
      return words.every((word) => text.includes(word));
    });
  }
  return { rows: ordered(rows, modes), modes, words };
}
/* Regressions that hold in every later run come first, then those of some, then the rest. */
function ordered(rows, modes) {
  const rank = (at) => {
    let best = 4;
    for (const mode of modes) {
      const m = moves(mode, at);
      if (m.length && m.every(isWorse)) return 0;
      if (m.some(isWorse)) best = Math.min(best, 1);
      else if (data.outcomes[mode].some((column) => column[at] === "1")) best = Math.min(best, 2);
    }
    return best;
  };
  let key = rank;
  if (state.sort === "case") key = (at) => data.cases[at];
  else if (state.sort === "study") key = (at) => data.studies[at];
  else if (state.sort.startsWith("run")) { const run = Number(state.sort.slice(3)); key = (at) => -modes.filter((m) => data.outcomes[m][run][at] === "1").length; }
  const keyed = rows.map((at) => [key(at), at]);
  const order = typeof (keyed[0] || [0])[0] === "string" ? (a, b) => a[0].localeCompare(b[0], undefined, { numeric: true }) : (a, b) => a[0] - b[0];
  keyed.sort((a, b) => (state.down ? -1 : 1) * order(a, b) || a[1] - b[1]);
  return keyed.map(([, at]) => at);
}

function cell(modes, run, at) {
  const codes = modes.map((mode) => data.outcomes[mode][run][at]);
  const fails = codes.filter((code) => code === "1").length;
  const code = fails ? "1" : ["u", "m", "0"].find((c) => codes.includes(c)) || "-";
  const [kind, mark, words] = MARKS[code];
  return h("span", { class: `cell ${kind}`, title: `${data.runs[run].name}: ${words}`, "aria-label": words }, fails > 1 ? `✕ ${fails}` : mark);
}
/* Which modes got worse or better, and in which runs when not in all of them. */
function tags(modes, at) {
  const found = [];
  for (const mode of modes) {
    const m = moves(mode, at);
    for (const [kind, test, arrow] of [["worse", isWorse, "▲"], ["better", (x) => x !== null && x < 0, "▼"]]) {
      const where = m.flatMap((move, later) => (test(move) ? [data.sides[later + 1]] : []));
      if (where.length) found.push(h("span", { class: `tag ${kind}` }, `${arrow} ${data.modes[mode][1]}${where.length < m.length ? ` in ${where.join(", ")}` : ""}`));
    }
  }
  return found;
}
async function drawRows() {
  const turn = (asked += 1);
  const { rows, modes, words } = await filtered();
  if (turn !== asked) return;
  state.rows = rows;
  const all = data.cases.length;
  $("count").textContent = !rows.length ? "No case matches." : rows.length === all ? `All ${all} cases` : `${rows.length} of ${plural(all, "case")}`;
  $("rows").replaceChildren(...rows.slice(0, state.shown).map((at, place) =>
    h("tr", { class: place === state.current ? "current" : null, onclick: () => open(at) },
      h("td", { class: "asked" }, h("a", { href: `#case=${encodeURIComponent(data.cases[at])}`, onclick: (e) => { e.preventDefault(); e.stopPropagation(); open(at); } }, data.cases[at]), h("span", { class: "question-line" }, data.questions[at])),
      data.studies.some(Boolean) && h("td", { class: "study" }, data.studies[at]),
      data.runs.map((_, run) => h("td", { class: "run", "data-label": data.runs[run].name }, cell(modes, run, at))),
      h("td", { class: "tags" }, tags(modes, at)))));
  $("more").hidden = rows.length <= state.shown;
  markHits($("rows"), words);
}
function drawHeads() {
  const head = (key, name, kind) => h("th", { scope: "col", class: kind, "aria-sort": state.sort === key ? (state.down ? "descending" : "ascending") : null },
    h("button", { type: "button", "data-sort": key, title: name, onclick: () => { if (state.sort === key) state.down = !state.down; else { state.sort = key; state.down = false; } drawHeads(); drawRows(); } }, name));
  $("heads").replaceChildren(head("case", "Case", "col-case"), ...(data.studies.some(Boolean) ? [head("study", "Study", "col-study")] : []),
    ...data.runs.map((run, at) => head(`run${at}`, run.name, `col-run side-${run.side}`)), h("th", { scope: "col" }, "What changed"));
}

function open(at) { state.current = state.rows.indexOf(at); go({ case: data.cases[at] }); }
function step(by) {
  const next = state.current + by;
  if (next < 0 || next >= state.rows.length) return;
  state.current = next;
  if (hash().get("case")) go({ case: data.cases[state.rows[next]] }, true);
  else { if (next >= state.shown) state.shown += PAGE; drawRows().then(() => document.querySelector("#rows tr.current")?.scrollIntoView({ block: "nearest" })); }
}

function answer(run, at, content, whole) {
  const head = [h("h2", { class: `side-${data.runs[run].side}` }, data.runs[run].name), h("p", { class: "soft small" }, (content && content.usage) || "")];
  if (!content) return h("section", { class: `side-${data.runs[run].side}`, "data-run": run }, head, h("p", { class: "absent" }, "This page keeps no answer of this run for the case."));
  const text = content.pieces.map(([kind, words, findings]) => {
    let inner = words;
    if (kind === "removed") return whole ? null : h("del", {}, words);
    if (findings && findings.length) inner = h("mark", { title: findings.map((n) => content.findings[n].title).join(", ") }, words);
    return kind === "added" && !whole ? h("ins", {}, inner) : inner;
  });
  const findings = content.findings.map((f) => h("article", { class: "finding" }, h("header", {}, h("h3", {}, f.title), f.tier && h("span", { class: "tier" }, f.tier)),
    h("p", { class: "explanation" }, f.explanation), f.source && h("figure", { class: "source" }, h("figcaption", {}, f.source), f.passage && h("blockquote", {}, f.passage))));
  const unscored = Object.entries(content.unscored).map(([mode, why]) => h("p", { class: "absent" }, `${mode}: unscored: ${why}`));
  return h("section", { class: `side-${data.runs[run].side}`, "data-run": run }, head, content.reason && h("p", { class: "absent" }, content.reason),
    content.same && run > 0 && h("p", { class: "soft" }, "Word for word the same answer."), h("div", { class: "answer" }, text), h("div", { class: "findings" }, findings, unscored));
}
/* The runs to show: those chosen, else the first and up to two later ones, failing ones first. */
function columns(at) {
  const chosen = (hash().get("runs") || "").split(",").map(Number).filter((n) => n > 0 && n <= data.runs.length).map((n) => n - 1);
  if (chosen.length) return chosen;
  const fails = (run) => data.modes.filter((_, mode) => data.outcomes[mode][run][at] === "1").length;
  const later = data.sides.slice(1).map((_, side) => data.runs.map((_, run) => run).filter((run) => data.runs[run].side === side + 1).sort((a, b) => fails(b) - fails(a) || a - b)[0]);
  return [0, ...later.slice(0, 2)];
}
async function drawCase(at) {
  const turn = (asked += 1);
  const content = await detail(at);
  if (turn !== asked) return;
  const shown = columns(at);
  const toggle = (run) => { const next = shown.includes(run) ? shown.filter((n) => n !== run) : [...shown, run].sort((a, b) => a - b); if (next.length) go({ runs: next.map((n) => n + 1).join(",") }, true); };
  const modes = data.modes.map((_, mode) => mode).filter((mode) => data.outcomes[mode].some((column) => "1um".includes(column[at])));
  $("case").replaceChildren(
    h("header", { class: "asked-header" }, h("p", { class: "meta" }, h("code", {}, data.cases[at]), data.studies[at] ? ` · ${data.studies[at]}` : ""), h("p", { class: "question" }, content?.find(Boolean)?.question || data.questions[at])),
    data.runs.length > 2 && h("p", { class: "choices", role: "group", "aria-label": "Runs shown" }, data.runs.map((run, n) => h("button", { type: "button", "aria-pressed": String(shown.includes(n)), class: `side side-${run.side}`, onclick: () => toggle(n) }, run.name))),
    modes.length ? h("table", { class: "outcomes" }, h("thead", {}, h("tr", {}, h("th", {}), data.runs.map((run) => h("th", { scope: "col", class: `side-${run.side}` }, run.name)))),
      h("tbody", {}, modes.map((mode) => h("tr", {}, h("th", { scope: "row" }, data.modes[mode][1]), data.runs.map((_, run) => h("td", {}, cell([mode], run, at))))))) : h("p", { class: "soft" }, "No failure in any run."),
    h("div", { class: "pair", style: null, "data-columns": shown.length }, shown.map((run) => answer(run, at, content && content[run], run === 0))));
  $("place").textContent = state.current >= 0 ? `${state.current + 1} of ${state.rows.length}` : "";
}
function draw() {
  const wanted = hash();
  for (const name of FILTERS) if ($(name) !== document.activeElement) $(name).value = wanted.get(name) || "";
  const at = data.cases.indexOf(wanted.get("case"));
  $("overview").hidden = at >= 0;
  $("case").hidden = at < 0;
  $("pager").hidden = at < 0;
  if (at >= 0) { if (state.rows[state.current] !== at) state.current = state.rows.indexOf(at); drawCase(at); scrollTo(0, 0); $("case").focus(); } else drawRows();
}
let passage = -1;
function walk(by) {
  const marks = [...document.querySelectorAll("#case mark")];
  if (!marks.length) return;
  passage = (passage + by + marks.length) % marks.length;
  marks.forEach((mark, n) => mark.classList.toggle("current", n === passage));
  marks[passage].scrollIntoView({ block: "center" });
}
function keys(event) {
  const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
  if (event.key === "Escape") { if (typing) event.target.blur(); else if (hash().get("case")) go({ case: "", runs: "" }); return; }
  if (typing || event.ctrlKey || event.metaKey || event.altKey || $("help").open) return;
  const inCase = Boolean(hash().get("case"));
  const act = {
    j: () => step(1), ArrowDown: inCase ? null : () => step(1), k: () => step(-1), ArrowUp: inCase ? null : () => step(-1),
    Enter: () => { if (!inCase && state.current >= 0) open(state.rows[state.current]); },
    n: () => inCase && walk(1), p: () => inCase && walk(-1), t: cycleTheme, "?": () => $("help").showModal(),
    r: () => !inCase && go({ show: hash().get("show") === "worse" ? "" : "worse" }), "/": () => !inCase && $("q").focus(),
  }[event.key];
  if (!act || (event.key === "Enter" && event.target.tagName !== "BODY" && event.target.tagName !== "MAIN")) return;
  event.preventDefault();
  act();
}
async function start() {
  data = await unpack($("data").textContent);
  $("mode").append(...data.modes.map(([name, title]) => h("option", { value: name }, title)));
  $("study").append(...[...new Set(data.studies)].filter(Boolean).sort().map((study) => h("option", { value: study }, study)));
  let timer;
  for (const name of FILTERS) $(name).addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(() => { state.shown = PAGE; state.current = -1; go({ [name]: $(name).value }, true); }, name === "q" ? 200 : 0); });
  $("filters").addEventListener("reset", (event) => { event.preventDefault(); for (const name of FILTERS) $(name).value = ""; go(Object.fromEntries(FILTERS.map((name) => [name, ""]))); });
  $("filters").addEventListener("submit", (event) => event.preventDefault());
  $("more").addEventListener("click", () => { state.shown += PAGE; drawRows(); });
  $("home").addEventListener("click", (event) => { event.preventDefault(); go({ case: "", runs: "" }); });
  $("next").addEventListener("click", () => step(1));
  $("previous").addEventListener("click", () => step(-1));
  $("theme").addEventListener("click", cycleTheme);
  $("help-button").addEventListener("click", () => $("help").showModal());
  addEventListener("keydown", keys);
  addEventListener("popstate", draw);
  addEventListener("hashchange", draw);
  setTheme(rememberedTheme());
  drawHeads();
  if (hash().get("case")) state.rows = (await filtered()).rows;
  draw();
}
start();
