"use strict";
/* Draws the cases of one run, or of several side by side, from the compressed index and blocks
   beside it. Text only ever enters the page as text nodes. */
const $ = (id) => document.getElementById(id);
const plural = (n, noun) => `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;
const fold = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").replace(/[’ʼ]/g, "'").toLowerCase();
const words = (text) => fold(text || "").split(/\s+/).filter(Boolean);
const plain = (state) => state.replaceAll("_", " ");

/* h("p", {class: "x", onclick: f}, child, …): an element; strings become text nodes. */
function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === false || value === null || value === undefined) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false && child !== ""));
  return element;
}

/* JSON, compressed and in base64, as the page holds it. */
async function unpack(text) {
  const bytes = Uint8Array.from(atob(text.trim()), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}

/* Marks the words found by a search, where the browser can, without touching the text. */
function markHits(root, query) {
  if (!globalThis.CSS || !CSS.highlights) return;
  CSS.highlights.delete("hit");
  if (!query.length) return;
  const ranges = [];
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    let folded = "";
    const origin = [];
    let at = 0;
    for (const letter of node.data) {
      const bare = fold(letter);
      for (let n = 0; n < bare.length; n += 1) origin.push(at);
      folded += bare;
      at += letter.length;
    }
    origin.push(at);
    for (const word of query) for (let from = folded.indexOf(word); from >= 0; from = folded.indexOf(word, from + word.length)) {
      const range = new Range();
      range.setStart(node, origin[from]);
      range.setEnd(node, origin[from + word.length]);
      ranges.push(range);
    }
  }
  CSS.highlights.set("hit", new Highlight(...ranges));
}

const THEMES = ["auto", "light", "dark"];
function rememberedTheme() {
  try {
    const theme = localStorage.getItem("ancrage-theme");
    return THEMES.includes(theme) ? theme : "auto";
  } catch { return "auto"; }
}
function setTheme(theme) {
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  $("theme").textContent = theme[0].toUpperCase() + theme.slice(1);
  $("theme").setAttribute("aria-label", `Colour theme: ${theme === "auto" ? "automatic" : theme}`);
  try { localStorage.setItem("ancrage-theme", theme); } catch { /* a file may not keep anything */ }
}
const cycleTheme = () => setTheme(THEMES[(THEMES.indexOf(document.documentElement.dataset.theme || "auto") + 1) % THEMES.length]);

async function start() {
  setTheme(rememberedTheme());
  $("theme").addEventListener("click", cycleTheme);
  if (!$("filters")) return;

  const PAGE = 150;
  const FIRST = Number($("answers").dataset.first) || PAGE;
  const FILTERS = ["q", "mode", "show", "in", "state", "study", "fails", "why"];
  const KEPT = 8;
  const blocks = [...document.querySelectorAll("script.block")];
  const index = await unpack(document.querySelector("script.index").textContent);
  const { runs, sides, modes, states, reasons, diagnoses, studies, ids, questions } = index;
  const single = runs.length === 1;
  const noun = single ? "answer" : "case";
  const number = new Map(ids.map((id, at) => [id, at]));
  const modeAt = new Map(modes.map(([name], at) => [name, at]));
  const title = (mode) => (modes[modeAt.get(mode)] || [mode, mode])[1];
  const everyRun = runs.map((_, run) => run);
  const everyMode = modes.map((_, mode) => mode);
  const OK = states.indexOf("ok");

  /* The cases of a block with their answers; the last few blocks stay unpacked. */
  const unpacked = new Map();
  function blockOf(at) {
    const found = unpacked.get(at) || unpack(blocks[at].textContent);
    unpacked.delete(at);
    unpacked.set(at, found);
    if (unpacked.size > KEPT) unpacked.delete(unpacked.keys().next().value);
    return found;
  }

  /* --- what each run says of a case ------------------------------------------------------- */
  const score = (mode, run, at) => index.scores[mode][run][at];
  const reason = (mode, run, at) => index.why[mode][run][at];
  /* fail, pass, unscored, missing (there is no answer), absent (not in the run, or not looked for) */
  function outcome(mode, run, at) {
    const value = score(mode, run, at);
    if (value !== null) return value > 0 ? "fail" : "pass";
    if (index.state[run][at] < 0) return "absent";
    if (index.state[run][at] !== OK) return "missing";
    return reason(mode, run, at) === undefined ? "absent" : "unscored";
  }
  const failing = (chosen, run, at) => chosen.filter((mode) => score(mode, run, at) > 0);
  const inSome = (test) => (mode, at) => everyRun.some((run) => test(mode, run, at));

  /* The share of a side's known verdicts that fail; null without any. */
  function rate(mode, side, at) {
    let known = 0, fails = 0;
    for (const run of everyRun) {
      const value = runs[run].side === side ? score(mode, run, at) : null;
      if (value !== null) { known += 1; fails += value > 0; }
    }
    return known ? fails / known : null;
  }
  /* For each later side what became of a case in one mode: above 0 it fails more than before. */
  const moves = (mode, at) => index.compared[mode].map((compared, later) => {
    const before = compared ? rate(mode, 0, at) : null;
    const after = before === null ? null : rate(mode, later + 1, at);
    return after === null ? null : after - before;
  });
  const rose = (move) => move > 0;
  const fell = (move) => move < 0;
  const holds = (mode, at) => { const found = moves(mode, at); return found.length > 0 && found.every(rose); };
  const moved = (test) => (mode, at) => { const found = moves(mode, at); return view.in ? test(found[Number(view.in) - 1] || 0) : found.some(test); };
  const unscored = inSome((mode, run, at) => outcome(mode, run, at) === "unscored" || (!single && outcome(mode, run, at) === "missing"));
  const fails = inSome((mode, run, at) => score(mode, run, at) > 0);

  const SHOW = {
    findings: (at, chosen) => chosen.some((mode) => fails(mode, at)),
    unscored: (at, chosen) => chosen.some((mode) => unscored(mode, at)),
    clear: (at, chosen) => index.state[0][at] === OK && !chosen.some((mode) => fails(mode, at) || unscored(mode, at)),
    held: (at, chosen) => chosen.some((mode) => holds(mode, at)),
    changed: (at, chosen) => chosen.some((mode) => moved((move) => move)(mode, at)),
    worse: (at, chosen) => chosen.some((mode) => moved(rose)(mode, at)),
    better: (at, chosen) => chosen.some((mode) => moved(fell)(mode, at)),
    flips: (at, chosen) => chosen.some((mode) => sides.some((_, side) => { const share = rate(mode, side, at); return share > 0 && share < 1; })),
  };

  /* The address says all there is to know: filters, order, open case, runs shown, finding. */
  let view = {};
  const address = (changes) => {
    const parameters = new URLSearchParams();
    for (const [key, value] of Object.entries({ ...view, ...changes })) if (value) parameters.set(key, value);
    return "#" + parameters;
  };
  const go = (changes) => { history.pushState(null, "", address(changes)); route(); };
  const adjust = (changes) => { history.replaceState(null, "", address(changes)); route(); };
  const none = (names) => Object.fromEntries(names.map((name) => [name, ""]));
  const chosenModes = () => (modeAt.has(view.mode) ? [modeAt.get(view.mode)] : everyMode);

  /* --- the list ----------------------------------------------------------------------------- */
  let shown = [];
  let drawn = 0;
  let drawnFor = null;
  let haystacks = null;

  /* What a search looks through, unpacked once; the list is drawn again when it is there. */
  async function fillHaystacks() {
    haystacks = [];
    for (const block of blocks) {
      for (const found of await unpack(block.textContent)) {
        const at = haystacks.length;
        const said = found.runs.filter(Boolean).flatMap((body) => [
          body.reason, body.answer.filter((part) => part[3] !== 2).map((part) => part[0]).join(""),
          ...body.findings.flatMap((finding) => [title(finding.mode), finding.mode, finding.explanation, finding.tier, finding.diagnosis, finding.id]),
        ]);
        haystacks.push(fold([ids[at], studies[index.study[at]], found.question || questions[at], ...everyRun.map((run) => states[index.state[run][at]]), ...said].join("\n")));
      }
      $("count").textContent = `Searching: ${haystacks.length} of ${plural(ids.length, noun)}…`;
    }
    drawnFor = null;
    route();
  }

  function matching() {
    const query = words(view.q);
    if (query.length && !haystacks) { haystacks = []; fillHaystacks(); }
    const chosen = chosenModes();
    const test = SHOW[view.show];
    const silent = view.show === "silent" ? new Set(index.silent.flat()) : null;
    const [study, state, why, diagnosis] = [studies.indexOf(view.study), states.indexOf(view.state), reasons.indexOf(view.why), diagnoses.indexOf(view.fails)];
    return ids.map((_, at) => at).filter((at) =>
      (!view.study || index.study[at] === study)
      && (!view.state || everyRun.some((run) => index.state[run][at] === state))
      && (!view.fails || everyRun.some((run) => (index.fails[run][at] || []).includes(diagnosis)))
      && (!view.why || everyMode.some((mode) => everyRun.some((run) => reason(mode, run, at) === why)))
      && (silent ? silent.has(at) : !test || test(at, chosen))
      && query.every((word) => (haystacks[at] || "").includes(word)));
  }

  const collator = new Intl.Collator(undefined, { numeric: true });
  function findings(run, at, chosen) {
    let total = 0;
    for (const mode of chosen) total += Math.max(0, score(mode, run, at));
    return total;
  }
  /* Cases that newly fail in every later run come first, then in some, then those that fail. */
  function rank(at, chosen) {
    let best = 3;
    for (const mode of chosen) {
      const found = moves(mode, at);
      if (found.length && found.every(rose)) return 0;
      if (found.some(rose)) best = Math.min(best, 1);
      else if (fails(mode, at)) best = Math.min(best, 2);
    }
    return best;
  }
  const KEYS = {
    run0: (at, chosen) => -findings(0, at, chosen),
    question: (at) => questions[at], id: (at) => ids[at], study: (at) => studies[index.study[at]], state: (at) => states[index.state[0][at]] || "",
    rank: (at, chosen) => rank(at, chosen) * 1e6 - failing(chosen, runs.length - 1, at).length,
  };

  const USUAL = single ? "run0" : "rank";
  const sorting = () => (view.sort || USUAL).startsWith("-") ? [view.sort.slice(1), -1] : [view.sort || USUAL, 1];
  function select() {
    const chosen = chosenModes();
    const [key, direction] = sorting();
    const run = key.startsWith("run") ? Number(key.slice(3)) : null;
    const value = run === null ? KEYS[key] || KEYS[USUAL] : (at) => -findings(run, at, chosen) - findings(run, at, everyMode) / 1e6;
    const keyed = matching().map((at) => [value(at, chosen), at]);
    const compare = keyed.length && typeof keyed[0][0] === "string" ? (a, b) => collator.compare(a[0], b[0]) : (a, b) => a[0] - b[0];
    keyed.sort((a, b) => direction * compare(a, b) || a[1] - b[1]);
    shown = keyed.map(([, at]) => at);
  }

  function drawHeads() {
    const [sorted, direction] = sorting();
    const head = (key, name, kind, label) => {
      const upwards = (direction === 1) === !/^run/.test(key);
      return h("th", { scope: "col", class: kind, "aria-sort": sorted === key ? (upwards ? "ascending" : "descending") : null },
        h("button", { type: "button", "data-sort": key, title: label, onclick: () => adjust({ sort: sorted === key ? (direction === 1 ? `-${key}` : "") : key }) }, name));
    };
    $("heads").replaceChildren(
      ...runs.map((run, at) => head(`run${at}`, single ? "Findings" : run.name, `run side-${run.side}`, single ? null : run.name)),
      head("question", "Question", "asked"), h("th", { scope: "col", class: "tags" }, single ? "Failure modes" : "What changed"),
      studies.some(Boolean) ? head("study", "Study", "study") : "", single ? head("state", "State", "state") : "", head("id", "Case", "id"));
  }

  function drawList() {
    const key = address({ case: "", finding: "", runs: "" });
    if (drawnFor === key) return;
    drawnFor = key;
    select();
    drawHeads();
    for (const name of FILTERS) if ($(name).value !== (view[name] || "")) $(name).value = view[name] || "";
    $("clear").hidden = !FILTERS.some((name) => view[name]);
    $("count").textContent = shown.length === ids.length
      ? `All ${plural(ids.length, noun)}`
      : shown.length ? `${shown.length.toLocaleString("en")} of ${plural(ids.length, noun)}` : `No ${noun} matches. Clear the filters to see all of them.`;
    $("rows").replaceChildren();
    drawn = 0;
    drawMore(FIRST);
  }

  function drawMore(count = PAGE) {
    const chosen = chosenModes();
    const part = document.createDocumentFragment();
    for (const at of shown.slice(drawn, drawn + count)) part.append(drawRow(at, chosen));
    drawn = Math.min(drawn + count, shown.length);
    $("rows").append(part);
    $("more").hidden = drawn >= shown.length;
    $("more").textContent = `Show more (${(shown.length - drawn).toLocaleString("en")} left)`;
    if (!open) markHits($("rows"), words(view.q));
  }

  const CELLS = { fail: ["✕", "fails"], pass: ["✓", "passes"], unscored: ["?", "unscored"], missing: ["–", "no answer"], absent: ["", "not in the run"] };
  function drawCell(chosen, run, at) {
    const found = chosen.map((mode) => outcome(mode, run, at));
    const kind = ["fail", "unscored", "missing", "pass"].find((kind) => found.includes(kind)) || "absent";
    const [mark, said] = CELLS[kind];
    const count = failing(chosen, run, at).length;
    return h("span", { class: `cell ${kind}`, role: "img", title: `${runs[run].name}: ${count > 1 ? `${count} modes fail` : said}`, "aria-label": count > 1 ? `${count} modes fail` : said }, count > 1 ? `✕ ${count}` : mark);
  }

  /* What became of each mode, and in which runs where there are several. */
  function drawTags(at, chosen) {
    if (single) {
      const open = everyMode.filter((mode) => outcome(mode, 0, at) === "unscored").length;
      const failed = failing(everyMode, 0, at).map((mode) => h("span", { class: "tag" }, modes[mode][1], score(mode, 0, at) > 1 ? h("b", {}, ` ×${score(mode, 0, at)}`) : null));
      return [...failed, open ? h("span", { class: "tag unscored" }, `${open} unscored`) : null];
    }
    const repeated = new Set(runs.map((run) => run.side)).size < runs.length;
    return chosen.flatMap((mode) => {
      const found = moves(mode, at);
      return [[rose, "bad", repeated ? "fails more often" : "newly fails"], [fell, "good", repeated ? "fails less often" : "newly passes"]].map(([test, kind, said]) => {
        const where = found.flatMap((move, later) => (test(move) ? [sides[later + 1]] : []));
        const which = found.length === 1 ? "" : where.length === found.length ? " in every later run" : ` in ${where.join(", ")}`;
        return where.length ? h("span", { class: `tag ${kind}` }, `${modes[mode][1]} ${said}${which}`) : null;
      });
    });
  }

  function drawRow(at, chosen) {
    const state = states[index.state[0][at]];
    const total = single ? findings(0, at, chosen) : 0;
    return h("tr", { "data-id": ids[at], class: single && state !== "ok" ? "not-ok" : null },
      single ? h("td", { class: total ? "run n strong" : "run n none" }, state === "ok" ? String(total) : "–")
        : everyRun.map((run) => h("td", { class: "run", "data-label": runs[run].name }, drawCell(chosen, run, at))),
      h("td", { class: "asked" }, h("a", { href: address({ case: ids[at], finding: "" }), dir: "auto" }, questions[at] || "(no question)")),
      h("td", { class: "tags" }, drawTags(at, chosen)),
      studies.some(Boolean) ? h("td", { class: "study" }, studies[index.study[at]]) : null,
      single ? h("td", { class: "state" }, state === "ok" ? h("span", { class: "none" }, "ok") : h("span", { class: "tag state" }, plain(state))) : null,
      h("td", { class: "id" }, h("code", {}, ids[at])));
  }

  /* --- one case ------------------------------------------------------------------------------- */
  let open = null;
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

  /* The answer, its passages, and what differs from the first run's: 1 is added, 2 is gone. */
  function drawAnswer(body, messages, offset, passedOffset) {
    const last = new Map();
    body.answer.forEach(([, spans], at) => (spans || []).forEach((span) => last.set(span, at)));
    let atLineStart = true;
    return h("div", { class: "answer", dir: "auto" }, body.answer.map(([text, spans = [], passed = [], change = 0], at) => {
      if (change === 2) return h("del", {}, text);
      const opens = atLineStart;
      atLineStart = text.endsWith("\n");
      let inner;
      if (spans.length) {
        const ending = spans.filter((span) => last.get(span) === at).map((span) => span + offset + 1);
        const numbers = spans.map((span) => span + offset);
        inner = h("mark", {
          class: spans.length > 1 ? "several" : null, tabindex: "0", role: "link", "data-spans": numbers.join(" "),
          "data-n": ending.join(" ") || null, "aria-details": `finding-${numbers[0] + 1}`, ...activate(() => follow(numbers)),
        }, text);
      } else if (passed.length) {
        const quote = body.passed[passed[0]];
        inner = h("span", { class: "passed", tabindex: "0", role: "link", title: `${quote.tier} ${index.tiers[quote.tier]}: ${name(messages[quote.source[0]] || quote.source)}`, ...activate(() => reveal(passed[0] + passedOffset)) }, text);
      } else inner = dressed(text, opens);
      return change ? h("ins", {}, inner) : inner;
    }));
  }

  function drawSource(source, messages, difference, near) {
    if (!source) return null;
    if (source.absent) return h("p", { class: "absent" }, h("code", {}, source.id), ` ${source.absent}`);
    const message = Array.isArray(source) ? messages[source[0]] : source;
    const [, start = 0, end = 0] = Array.isArray(source) ? source : [];
    const letters = end ? [...message.text] : null;
    const neighbour = (at, label) => at !== null && at !== undefined && h("p", { class: "near", dir: "auto" }, h("span", { class: "label" }, `${label} `, h("code", {}, messages[at].id)), " ", messages[at].text);
    return h("figure", { class: "source" },
      h("figcaption", {}, h("code", {}, name(message)), message.language && ` · ${message.language}`, message.asked && h("span", { class: "asked" }, message.asked)),
      message.text === undefined ? null : h("blockquote", { dir: "auto", lang: message.language || null }, letters ? [letters.slice(0, start).join(""), h("mark", {}, letters.slice(start, end).join("")), letters.slice(end).join("")] : message.text),
      difference && difference.length ? h("p", { class: "difference", dir: "auto" }, h("span", { class: "label" }, "Source → answer "),
        difference.map(([kind, text]) => (kind === "same" ? text : h(kind === "added" ? "ins" : "del", {}, text)))) : null,
      near && near.some((at) => at !== null)
        ? h("details", {}, h("summary", {}, "Same respondent, before and after"), neighbour(near[0], "before"), neighbour(near[1], "after")) : null);
  }

  function drawFinding(finding, at, messages, whole) {
    const toPassage = (event) => {
      if (event.type === "keydown") choose(at, "passage", true);
      else if (!event.target.closest("summary, a, details") && !String(getSelection())) choose(at, "passage");
    };
    return h("article", { class: "finding", id: `finding-${at + 1}`, tabindex: "0", "aria-label": `Finding ${at + 1}: ${title(finding.mode)}`, ...activate(toPassage) },
      h("header", {}, h("span", { class: "number" }, String(at + 1)), h("h3", {}, title(finding.mode)),
        finding.tier || finding.diagnosis ? h("span", { class: "tier" }, [finding.tier, finding.diagnosis].filter(Boolean).join(" ")) : null),
      h("p", { class: "explanation", dir: "auto" }, finding.explanation),
      whole ? h("p", { class: "label" }, "About the answer as a whole.") : null,
      drawSource(finding.source, messages, finding.difference, finding.near),
      (finding.cited || []).map((cited) => h("details", {}, h("summary", {}, "Cited: ", h("code", {}, name(Array.isArray(cited) ? messages[cited[0]] : cited))), drawSource(cited, messages))),
      finding.details ? h("details", {}, h("summary", {}, "Details"), facts(finding.details)) : null);
  }

  function drawPassed(body, messages, offset) {
    if (!body.passed.length) return null;
    const said = (at) => body.answer.filter(([, , passed, change]) => change !== 2 && passed && passed.includes(at)).map(([text]) => text).join("");
    return h("details", { class: "passed-quotes" },
      h("summary", {}, `${plural(body.passed.length, "quote")} passed`),
      index.whole ? null : h("p", { class: "label" }, "A page this long leaves their messages out: ancrage show CASE prints them."),
      body.passed.map((quote, at) => h("article", { id: `passed-${at + offset + 1}`, tabindex: "-1" },
        h("p", { class: "good" }, `${quote.tier} ${index.tiers[quote.tier]}`),
        h("p", { class: "words", dir: "auto" }, said(at)),
        drawSource(quote.source, messages))));
  }

  function reveal(at) {
    const quote = $(`passed-${at + 1}`);
    quote.closest("details").open = true;
    quote.scrollIntoView({ block: "nearest" });
    quote.focus({ preventScroll: true });
  }

  function drawScores(run, at) {
    const list = everyMode.filter((mode) => score(mode, run, at) !== null || reason(mode, run, at) !== undefined).map((mode) => {
      const value = score(mode, run, at);
      return h("li", { class: value === null ? "unscored" : value > 0 ? "bad" : "good" },
        h("span", {}, modes[mode][1]), h("b", {}, value === null ? "unscored" : String(value)), value === null ? h("span", { class: "reason" }, reasons[reason(mode, run, at)]) : null);
    });
    const none = index.state[run][at] === OK ? "Not scored yet." : "None: there is no usable answer.";
    return h("section", { class: "scores" }, h("h3", {}, "Scores"), list.length ? h("ul", {}, list) : h("p", { class: "label" }, none));
  }

  function drawContext(found, bodies, texts) {
    const block = (name, children) => children.length ? [h("h3", {}, name), ...children] : [];
    const tools = bodies.flatMap((body) => body.tools || []);
    const parts = [
      ...block("Conversation before", (found.history || []).map(([role, text]) => h("div", { class: "turn" }, h("span", { class: "label" }, role), h("div", { class: "said", dir: "auto" }, texts[text])))),
      ...block("Tool calls", tools.map(([name, ...parts]) => {
        const [given, output, error] = parts.map((text) => texts[text]);
        return h("details", { class: "tool" }, h("summary", {}, h("code", {}, name), error ? h("span", { class: "tag state" }, "error") : null), h("pre", {}, given), error ? h("pre", { class: "error" }, error) : null, h("pre", {}, output));
      })),
      ...block("System prompt", found.system === undefined ? [] : [h("pre", {}, texts[found.system])]),
      ...block("Provenance", [facts([...(found.facts || []), ...bodies.flatMap((body) => body.facts || [])])].filter((list) => list.children.length)),
    ];
    return parts.length ? h("details", { class: "context", open: contextOpen, ontoggle: (event) => { contextOpen = event.target.open; } },
      h("summary", {}, `Context: ${plural((found.history || []).length, "earlier turn")}, ${plural(tools.length, "tool call")}, provenance`), parts) : null;
  }

  const drawLegend = () => h("details", { class: "legend" }, h("summary", {}, "What T0 to T7 mean"),
    facts(Object.entries(index.tiers)), h("p", { class: "label" }, "T0 to T3 pass."));

  /* What there is to read of one run: the answer, and what was found in it. */
  function drawRun(run, at, body, messages, offset, passedOffset) {
    const state = states[index.state[run][at]];
    const count = body.findings.length;
    const inText = new Set(body.answer.flatMap(([, spans]) => spans || []));
    const open = everyMode.some((mode) => outcome(mode, run, at) === "unscored");
    const scored = everyMode.some((mode) => score(mode, run, at) !== null);
    const silence = state !== "ok" ? "An answer that is not usable is not checked." : open ? "Not every failure mode could be scored: see the reasons under the answer." : scored ? "Every check that scored this answer passed it." : "No check has scored this answer.";
    return {
      reading: [
        state === "ok" ? null : h("p", { class: "notice" }, h("strong", {}, plain(state)), body.reason ? `: ${body.reason}` : ""),
        body.same ? h("p", { class: "label" }, `Word for word the answer of ${runs[0].name}.`) : null,
        body.answer.length ? drawAnswer(body, messages, offset, passedOffset) : h("p", { class: "label" }, "There is no answer text."),
      ],
      aside: h("aside", { class: "findings", "aria-label": "Findings" },
        h(single ? "h2" : "h3", {}, count ? plural(count, "finding") : "No finding"),
        count ? null : h("p", { class: "label" }, silence),
        body.findings.map((finding, n) => drawFinding(finding, n + offset, messages, !inText.has(n))),
        drawPassed(body, messages, passedOffset)),
    };
  }

  /* The runs to show: those chosen, else the first and up to two later sides, failing runs first. */
  function columns(at) {
    if (single) return [0];
    const chosen = (view.runs || "").split(",").map((n) => Number(n) - 1).filter((run) => run in runs);
    if (chosen.length) return chosen;
    const later = sides.slice(1, 3).map((_, side) => everyRun.filter((run) => runs[run].side === side + 1)
      .sort((a, b) => failing(everyMode, b, at).length - failing(everyMode, a, at).length || a - b)[0]);
    return [0, ...later];
  }

  function drawChoices(at, chosen) {
    const toggle = (run) => {
      const next = chosen.includes(run) ? chosen.filter((other) => other !== run) : [...chosen, run].sort((a, b) => a - b);
      if (next.length) adjust({ runs: next.map((n) => n + 1).join(","), finding: "" });
    };
    const told = everyMode.filter((mode) => everyRun.some((run) => ["fail", "unscored", "missing"].includes(outcome(mode, run, at))));
    return [
      runs.length > 2 ? h("p", { class: "choices", role: "group", "aria-label": "Runs shown" }, runs.map((run, n) => h("button", { type: "button", "aria-pressed": String(chosen.includes(n)), class: `side side-${run.side}`, onclick: () => toggle(n) }, run.name))) : null,
      told.length ? h("div", { class: "scroll" }, h("table", { class: "outcomes" }, h("thead", {}, h("tr", {}, h("th", {}), runs.map((run) => h("th", { scope: "col", class: `side-${run.side}` }, run.name)))),
        h("tbody", {}, told.map((mode) => h("tr", {}, h("th", { scope: "row" }, modes[mode][1]), everyRun.map((run) => h("td", {}, drawCell([mode], run, at)))))))) : h("p", { class: "label" }, "No failure in any run."),
    ];
  }

  function drawCase(at, cases) {
    const messages = cases.flatMap((other) => other.messages || []);
    const texts = cases.flatMap((other) => other.texts || []);
    const found = cases[at % index.block];
    const chosen = columns(at);
    const list = [];
    let passed = 0;
    const drawnRuns = chosen.map((run) => {
      const body = found.runs[run];
      if (!body) return [run, null];
      const parts = drawRun(run, at, body, messages, list.length, passed);
      list.push(...body.findings);
      passed += body.passed.length;
      return [run, parts, body];
    });
    open = { at, findings: list, columns: chosen.join() };
    const legend = list.some((finding) => finding.tier) || passed ? drawLegend() : null;
    const header = h("header", { class: "asked-header" },
      h("p", { class: "meta" }, h("code", {}, ids[at]), studies[index.study[at]] && ` · ${studies[index.study[at]]}`, single && ` · ${plain(states[index.state[0][at]])}`),
      h("h1", { class: "question", dir: "auto" }, found.question || questions[at] || "(no question)"),
      found.missing ? h("p", { class: "notice" }, h("strong", {}, "source missing"), `: ${found.missing}`) : null);
    if (single) {
      const [[run, { reading, aside }, body]] = drawnRuns;
      aside.append(...(legend ? [legend] : []));
      $("case").replaceChildren(header, h("div", { class: "columns" },
        h("section", { class: "reading", "aria-label": "Answer" }, reading, drawScores(run, at), drawContext(found, [body], texts)), aside));
      return;
    }
    $("case").replaceChildren(header, ...drawChoices(at, chosen).filter(Boolean), h("div", { class: "pair" }, drawnRuns.map(([run, parts, body]) =>
      h("section", { class: `side-${runs[run].side}`, "data-run": run }, h("h2", {}, runs[run].name),
        parts ? [body.usage ? h("p", { class: "label" }, body.usage) : null, parts.reading, parts.aside, drawScores(run, at), drawContext({}, [body], texts)]
          : h("p", { class: "absent" }, index.state[run][at] < 0 ? "This case is not in the run." : "A baseline keeps outcomes, and no answer.")))),
    ...[legend, drawContext(found, [], texts)].filter(Boolean));
  }

  /* Marks and cards point at each other; a passage with several findings goes round them. */
  function follow(spans) {
    const current = Number(view.finding) - 1;
    choose(spans.includes(current) ? spans[(spans.indexOf(current) + 1) % spans.length] : spans[0], "card", true);
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
    const [reached, other] = target === "passage" ? [first, card] : [card, first];
    if (other) other.scrollIntoView({ block: "nearest" });
    if (reached) {
      reached.scrollIntoView({ block: "nearest" });
      if (focus) reached.focus({ preventScroll: true });
    }
  }

  function step(by) {
    const at = open ? shown.indexOf(open.at) : -1;
    const next = shown[at === -1 ? 0 : at + by];
    if (next !== undefined) adjust({ case: ids[next], finding: "" });
  }

  function stepFinding(by) {
    const count = open.findings.length;
    if (!count) return;
    const current = Number(view.finding) || 0;
    choose(((current || (by > 0 ? 0 : 1)) - 1 + by + count) % count, "card", true);
  }

  /* --- going from one to the other ------------------------------------------------------------ */
  let routes = 0;
  const heading = document.title.split(" · ")[0];

  async function route() {
    const mine = routes += 1;
    delete document.body.dataset.ready;
    view = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
    drawList();
    const at = view.case ? number.get(view.case) : undefined;
    const opens = at !== undefined;
    const was = open && open.at;
    $("unknown").hidden = opens || !view.case;
    $("unknown").textContent = `There is no ${noun} ${view.case} on this page.`;
    if (opens && (at !== was || columns(at).join() !== open.columns)) {
      const block = await blockOf(Math.floor(at / index.block));
      if (mine !== routes) return;
      drawCase(at, block);
      if (at !== was) scrollTo(0, 0);
    }
    $("overview").hidden = opens;
    $("case").hidden = !opens;
    $("pager").hidden = !opens;
    document.body.classList.toggle("reading-case", opens);
    $("home").textContent = opens ? (single ? "← Answers" : "← Cases") : "Ancrage";
    $("home").setAttribute("href", opens ? address({ case: "", finding: "", runs: "" }) : "#");
    $("crumb").textContent = opens && view.mode ? title(view.mode) : heading;
    if (opens) {
      const place = shown.indexOf(at);
      $("place").textContent = place === -1 ? "outside the filter" : `${place + 1} of ${shown.length}`;
      $("previous").disabled = place <= 0;
      $("next").disabled = place === shown.length - 1;
      if (at !== was) $("case").focus({ preventScroll: true });
      if (!view.finding && view.mode) {
        const first = open.findings.findIndex((finding) => finding.mode === view.mode);
        if (first >= 0) view.finding = String(first + 1);
      }
      if (view.finding) highlight("passage");
    } else {
      open = null;
      if (was !== null) focusRow(was);
    }
    markHits(open ? $("case") : $("rows"), words(view.q));
    document.body.dataset.ready = "true";
  }

  function focusRow(at) {
    const place = shown.indexOf(at);
    while (place >= drawn && drawn < shown.length) drawMore();
    const link = place >= 0 && $("rows").children[place].querySelector("a");
    if (link) { link.focus(); link.scrollIntoView({ block: "center" }); }
  }

  function moveRow(by) {
    const here = document.activeElement && document.activeElement.closest("#rows tr");
    const rows = $("rows").children;
    const at = here ? [...rows].indexOf(here) + by : by > 0 ? 0 : -1;
    if (at >= drawn) drawMore();
    const link = rows[at] && rows[at].querySelector("a");
    if (link) { link.focus(); link.closest("tr").scrollIntoView({ block: "nearest" }); }
  }

  const close = () => go({ case: "", finding: "", runs: "" });
  const LIST_KEYS = {
    j: () => moveRow(1), ArrowDown: () => moveRow(1), k: () => moveRow(-1), ArrowUp: () => moveRow(-1),
    r: () => { if (!single) go({ show: view.show === "worse" ? "" : "worse" }); },
  };
  const CASE_KEYS = {
    j: () => step(1), ArrowRight: () => step(1), k: () => step(-1), ArrowLeft: () => step(-1),
    n: () => stepFinding(1), p: () => stepFinding(-1), Escape: close,
  };
  const KEYS_EVERYWHERE = {
    "/": () => { if (open) close(); $("q").focus(); $("q").select(); },
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
    const action = (open ? CASE_KEYS : LIST_KEYS)[event.key] || KEYS_EVERYWHERE[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });

  /* --- start ------------------------------------------------------------------------------------ */
  $("without-script").hidden = true;
  $("filters").hidden = false;
  const options = (id, values) => {
    $(id).append(...values.map(([value, label]) => h("option", { value }, label)));
    $(id).closest("label").hidden = values.length < (id === "mode" ? 1 : 2) && !(values.length && ["fails", "why"].includes(id));
  };
  const short = (text) => (text.length > 60 ? `${text.slice(0, 59)}…` : text);
  options("mode", modes);
  options("in", sides.length > 2 ? sides.slice(1).map((side, later) => [String(later + 1), side]) : []);
  options("state", states.map((state) => [state, single ? `${plain(state)} (${index.state[0].filter((n) => states[n] === state).length})` : plain(state)]));
  options("study", studies.filter(Boolean).sort(collator.compare).map((study) => [study, study]));
  options("fails", diagnoses.map((word) => [word, word]));
  options("why", reasons.map((why) => [why, short(why)]));
  if (!index.silent.some((list) => list.length)) $("show").querySelector("[value=silent]")?.remove();
  let pending = 0;
  $("q").addEventListener("input", () => { clearTimeout(pending); pending = setTimeout(() => adjust({ q: $("q").value.trim() }), 120); });
  for (const name of FILTERS.slice(1)) $(name).addEventListener("change", () => {
    const changes = { [name]: $(name).value };
    if (single && name === "mode" && view.show !== "unscored") changes.show = $("mode").value ? view.show || "findings" : view.show === "findings" ? "" : view.show;
    go(changes);
  });
  $("filters").addEventListener("submit", (event) => event.preventDefault());
  $("filters").addEventListener("reset", (event) => { event.preventDefault(); go(none(FILTERS)); });
  document.addEventListener("click", (event) => {
    const link = event.target.closest("#overview a[href^='#']");
    if (!link || link.closest("#rows")) return;
    const part = document.getElementById(link.hash.slice(1));
    if (part) { event.preventDefault(); part.scrollIntoView(); return; }
    event.preventDefault();
    const wanted = Object.fromEntries(new URLSearchParams(link.getAttribute("href").slice(1)));
    go(wanted.case ? wanted : { ...none(FILTERS), ...wanted });
    if (wanted.case) return;
    $("cases-title").scrollIntoView();
    $("cases-title").focus({ preventScroll: true });
  });
  $("rows").addEventListener("click", (event) => {
    const row = event.target.closest("tr");
    if (row && !event.target.closest("a") && !String(getSelection())) go({ case: row.dataset.id, finding: "" });
  });
  $("more").addEventListener("click", () => drawMore());
  /* At the end of the page the list grows as one reads; before other parts, when asked to. */
  if (!$("cases").nextElementSibling) new IntersectionObserver((entries) => { if (entries.some((entry) => entry.isIntersecting) && drawn < shown.length) drawMore(); }, { rootMargin: "600px" }).observe($("more"));
  $("previous").addEventListener("click", () => step(-1));
  $("next").addEventListener("click", () => step(1));
  $("help-button").addEventListener("click", () => $("help").showModal());
  addEventListener("popstate", route);
  addEventListener("hashchange", route);
  addEventListener("beforeprint", () => { while (!open && drawn < Math.min(shown.length, 2000)) drawMore(); });
  await route();
}
start();
