/* Draws the matrix of cases and runs from the JSON beside it. Text only ever enters the page as text nodes. */
(() => {
  const PAGE = 200;
  const FILTERS = ["q", "mode", "show", "study"];
  const DATA = JSON.parse($("data").textContent);
  const { runs, modes, cases, studies, questions, outcomes, compared } = DATA;
  const details = new Map([...document.querySelectorAll("script.detail")].map((script) => [Number(script.dataset.case), script]));
  const number = new Map(cases.map((id, at) => [id, at]));
  const title = Object.fromEntries(modes);
  const bySide = DATA.sides.map((_, side) => runs.flatMap((run, at) => (run.side === side ? [at] : [])));

  /* The address says all there is to know: filters, order, open case, the two runs beside each other. */
  let view = {};
  const address = (changes) => {
    const parameters = new URLSearchParams();
    for (const [key, value] of Object.entries({ ...view, ...changes })) if (value) parameters.set(key, value);
    return "#" + parameters;
  };
  const go = (changes) => { history.pushState(null, "", address(changes)); route(); };
  const adjust = (changes) => { history.replaceState(null, "", address(changes)); route(); };

  /* --- outcomes -------------------------------------------------------------------------- */
  /* For the chosen mode, or for all modes together: how many modes fail, and whether all could be told. */
  function looked(mode) {
    const chosen = mode ? [modes.findIndex(([name]) => name === mode)].filter((at) => at >= 0) : modes.map((_, at) => at);
    return (run, at) => {
      let fails = 0, unscored = 0, missing = 0, known = 0;
      for (const m of chosen) {
        const code = outcomes[m][run][at];
        if (code === "1") { fails++; known++; } else if (code === "0") known++;
        else if (code === "u") unscored++; else if (code === "m") missing++;
      }
      if (fails) return { kind: "fail", fails };
      if (unscored) return { kind: "unscored", fails: 0 };
      if (missing) return { kind: "missing", fails: 0 };
      return { kind: known ? "pass" : "absent", fails: 0 };
    };
  }

  /* What happened to each case, mode by mode: a regression in one mode is not hidden by progress in another. */
  function changesOf(mode) {
    const chosen = modes.flatMap(([name], at) => (!mode || name === mode ? [at] : []));
    return cases.map((_, at) => {
      const found = { worse: false, better: false, flips: false, failing: false, unscored: false };
      for (const m of chosen) {
        const shares = bySide.map((members) => {
          let fails = 0, known = 0;
          for (const run of members) {
            const code = outcomes[m][run][at];
            if (code === "1") { fails++; known++; } else if (code === "0") known++;
            else if (code !== "-") found.unscored = true;
          }
          if (fails) found.failing = true;
          if (fails && fails < known) found.flips = true;
          return known ? fails / known : null;
        });
        if (shares[0] === null) continue;
        const told = shares.slice(1).filter((share, side) => share !== null && compared[m][side]);
        for (const share of told) {
          if (share > shares[0]) found.worse = true;
          if (share < shares[0]) found.better = true;
        }
        if (runs.length > 2 && bySide.every((members) => members.length === 1)) {
          const seen = [shares[0], ...told];
          let turns = 0;
          for (let i = 1; i < seen.length; i++) if (seen[i] !== seen[i - 1]) turns++;
          if (turns > 1) found.flips = true;
        }
      }
      return found;
    });
  }
  const cache = new Map();
  const changes = (mode) => { if (!cache.has(mode)) cache.set(mode, changesOf(mode)); return cache.get(mode); };

  /* --- the matrix ------------------------------------------------------------------------ */
  let shown = [];
  let drawn = 0;
  let drawnFor = null;
  let haystacks = null;
  const haystack = (at) => (haystacks ||= cases.map((id, i) => fold(`${id}\n${studies[i]}\n${questions[i]}`)))[at];

  const RANK = { fail: 0, unscored: 1, missing: 2, pass: 3, absent: 4 };
  const weight = (c) => (c.worse ? 4 : 0) + (c.flips ? 2 : 0) + (c.better ? 1 : 0);

  function select() {
    const query = fold(view.q || "").split(/\s+/).filter(Boolean);
    const found = changes(view.mode || "");
    const show = view.show || "";
    shown = [];
    for (let at = 0; at < cases.length; at++) {
      const c = found[at];
      if (show === "changed" && !(c.worse || c.better || c.flips)) continue;
      if (show && show !== "changed" && !c[show]) continue;
      if (view.study && studies[at] !== view.study) continue;
      if (query.length && !query.every((word) => haystack(at).includes(word))) continue;
      shown.push(at);
    }
    const [key, reverse] = (view.sort || "change").startsWith("-") ? [view.sort.slice(1), -1] : [view.sort || "change", 1];
    const outcome = looked(view.mode);
    const collate = new Intl.Collator(undefined, { numeric: true }).compare;
    const order = {
      change: (a, b) => weight(found[b]) - weight(found[a]),
      case: (a, b) => collate(cases[a], cases[b]),
      question: (a, b) => collate(questions[a], questions[b]),
      study: (a, b) => collate(studies[a], studies[b]),
    }[key];
    if (order) shown.sort((a, b) => reverse * order(a, b) || a - b);
    else {
      const run = Number(key.slice(3));
      const keys = new Map(shown.map((at) => { const o = outcome(run, at); return [at, RANK[o.kind] * 100 - o.fails]; }));
      shown.sort((a, b) => reverse * (keys.get(a) - keys.get(b)) || a - b);
    }
    for (const button of document.querySelectorAll("[data-sort]")) {
      const th = button.closest("th");
      if (button.dataset.sort !== key) th.removeAttribute("aria-sort");
      else th.setAttribute("aria-sort", reverse === 1 ? "ascending" : "descending");
    }
  }

  function drawHeads() {
    const head = (name, key, cls) => h("th", { scope: "col", class: cls }, h("button", { type: "button", "data-sort": key, onclick: () => sortBy(key) }, name));
    $("heads").replaceChildren(
      head("Change", "change", "col-change"), head("Case", "case", "col-case"), head("Question", "question", "col-question"), head("Study", "study", "col-study"),
      ...runs.map((run, at) => {
        const th = head(run.name, `run${at}`, `col-run side-${run.side}`);
        th.title = `${run.name} · ${run.created}`;
        return th;
      }));
  }
  const sortBy = (key) => adjust({ sort: (view.sort || "change") === key ? `-${key}` : key });

  function drawList() {
    const key = address({ case: "", left: "", right: "" });
    if (drawnFor === key) return;
    drawnFor = key;
    select();
    for (const name of FILTERS) if ($(name).value !== (view[name] || "")) $(name).value = view[name] || "";
    $("clear").hidden = !FILTERS.some((name) => view[name]);
    $("count").textContent = shown.length === cases.length
      ? `All ${plural(cases.length, "case")}`
      : shown.length ? `${shown.length} of ${plural(cases.length, "case")}` : "No case matches. Clear the filters to see all of them.";
    $("rows").replaceChildren();
    drawn = 0;
    drawMore();
  }

  function drawMore(count = PAGE) {
    const outcome = looked(view.mode);
    const found = changes(view.mode || "");
    const part = document.createDocumentFragment();
    for (const at of shown.slice(drawn, drawn + count)) part.append(drawRow(at, outcome, found[at]));
    drawn = Math.min(drawn + count, shown.length);
    $("rows").append(part);
    $("more").hidden = drawn >= shown.length;
  }

  const SIGNS = { fail: "✕", pass: "✓", unscored: "?", missing: "–", absent: "" };
  const WORDS = { fail: "fails", pass: "passes", unscored: "unscored", missing: "no answer", absent: "not in the run" };
  function cell(found, name, single) {
    const sign = found.kind === "fail" && found.fails > 1 ? `✕ ${found.fails}` : SIGNS[found.kind];
    const words = found.kind === "fail" && !single ? `fails ${plural(found.fails, "mode")}` : WORDS[found.kind];
    return h("span", { class: `cell ${found.kind}`, title: `${name}: ${words}`, role: "img", "aria-label": words }, sign);
  }
  const tags = (c) => [
    c.worse && h("span", { class: "tag" }, "▲ worse"), c.better && !c.worse && h("span", { class: "tag better" }, "▼ better"),
    c.flips && !c.worse && !c.better && h("span", { class: "tag flips" }, "flips"),
  ];

  function drawRow(at, outcome, found) {
    return h("tr", { "data-case": at },
      h("td", { class: "change" }, tags(found)),
      h("td", {}, h("a", { href: address({ case: cases[at], left: "", right: "" }), title: cases[at] }, h("code", {}, cases[at]))),
      h("td", { dir: "auto", title: questions[at] }, questions[at]),
      h("td", { class: "study", title: studies[at] }, studies[at]),
      runs.map((run, i) => h("td", { class: i && runs[i - 1].side !== run.side ? "run first-of-side" : "run" }, cell(outcome(i, at), run.name, Boolean(view.mode)))));
  }

  /* --- word by word ------------------------------------------------------------------------ */
  /* Myers's shortest edit over words. Gives the code-point spans of each text that the other lacks; null when too far apart. */
  const TOKENS = /\s+|[\p{L}\p{N}][\p{L}\p{N}\p{M}]*|./gsu;
  const MOST_EDITS = 1500;
  function difference(first, second) {
    const a = first.match(TOKENS) || [], b = second.match(TOKENS) || [];
    let start = 0, endA = a.length, endB = b.length;
    while (start < endA && start < endB && a[start] === b[start]) start++;
    while (endA > start && endB > start && a[endA - 1] === b[endB - 1]) { endA--; endB--; }
    const n = endA - start, m = endB - start, most = Math.min(n + m, MOST_EDITS), middle = most + 1;
    const trace = [];
    let reach = new Int32Array(2 * most + 3), end = -1;
    search: for (let d = 0; d <= most; d++) {
      trace.push(reach.slice(middle - d - 1, middle + d + 2));
      for (let k = -d; k <= d; k += 2) {
        let x = k === -d || (k !== d && reach[middle + k - 1] < reach[middle + k + 1]) ? reach[middle + k + 1] : reach[middle + k - 1] + 1;
        let y = x - k;
        while (x < n && y < m && a[start + x] === b[start + y]) { x++; y++; }
        reach[middle + k] = x;
        if (x >= n && y >= m) { end = d; break search; }
      }
    }
    if (end < 0) return null;
    const removed = new Set(), added = new Set();
    let x = n, y = m;
    for (let d = end; d > 0; d--) {
      const before = trace[d], at = (k) => before[k + d + 1];
      const k = x - y;
      const down = k === -d || (k !== d && at(k - 1) < at(k + 1));
      const previous = down ? k + 1 : k - 1;
      const px = at(previous), py = px - previous;
      if (down) added.add(start + py); else removed.add(start + px);
      x = px; y = py;
    }
    return [spans(a, removed), spans(b, added)];
  }
  function spans(tokens, chosen) {
    const found = [];
    let offset = 0;
    tokens.forEach((token, at) => {
      const size = [...token].length;
      if (chosen.has(at)) {
        const last = found[found.length - 1];
        if (last && last[1] === offset) last[1] = offset + size; else found.push([offset, offset + size]);
      }
      offset += size;
    });
    return found;
  }

  /* A text cut wherever a change or a finding begins or ends. */
  function drawText(detail, changed, side) {
    const points = [...detail.text];
    const marks = detail.findings.map((f) => [f.start, f.end]);
    const cuts = [...new Set([0, points.length, ...changed.flat(), ...marks.flat()])].filter((at) => at >= 0 && at <= points.length).sort((p, q) => p - q);
    const inside = (list, at) => list.flatMap(([from, to], i) => (from <= at && at < to ? [i] : []));
    const parts = [];
    for (let i = 0; i + 1 < cuts.length; i++) {
      const text = points.slice(cuts[i], cuts[i + 1]).join("");
      const own = inside(marks, cuts[i]);
      const child = inside(changed, cuts[i]).length ? h("span", { class: "changed" }, text) : text;
      parts.push(own.length
        ? h("mark", { class: own.length > 1 ? "several" : null, tabindex: "0", title: own.map((at) => `${title[detail.findings[at].mode] || detail.findings[at].mode}: ${detail.findings[at].explanation}`).join("\n"), "data-n": own.filter((at) => marks[at][1] === cuts[i + 1]).map((at) => at + 1).join(" ") || null }, child)
        : child);
    }
    return h("div", { class: "answer", dir: "auto" }, parts.length ? parts : h("span", { class: "soft" }, side));
  }

  function drawSide(detail, run, changed, cls) {
    const heading = h("h2", { class: `side-${run.side}` }, run.name);
    if (!detail) return h("section", { class: `${cls} side-${run.side}` }, heading, h("p", { class: "absent" }, "This run keeps no answer to this case."));
    const unscored = Object.entries(detail.unscored).filter(([, why]) => why);
    return h("section", { class: `${cls} side-${run.side}` }, heading,
      detail.reason && h("p", { class: "notice" }, detail.reason),
      drawText(detail, changed, "(empty answer)"),
      h("div", { class: "findings" }, detail.findings.map((f, at) => h("article", { class: "finding" },
        h("header", {}, h("span", { class: "number" }, String(at + 1)), h("h3", {}, title[f.mode] || f.mode), f.tier && h("span", { class: "tier" }, f.tier)),
        h("p", { class: "explanation", dir: "auto" }, f.explanation),
        f.source && h("figure", { class: "source" }, h("figcaption", {}, h("code", {}, f.source)), f.passage && h("blockquote", { dir: "auto" }, f.passage)))),
      unscored.map(([mode, why]) => h("p", { class: "care" }, `${title[mode] || mode} is unscored: ${why}`))));
  }

  /* --- one case ---------------------------------------------------------------------------- */
  let openCase = null;
  function drawCase(at) {
    const script = details.get(at);
    const left = Number(view.left || 1) - 1 in runs ? Number(view.left || 1) - 1 : 0;
    /* Beside the reference, the run that fails most where it does not. */
    const newly = runs.map((run, i) => (run.side ? modes.filter((_, m) => outcomes[m][i][at] === "1" && outcomes[m][left][at] !== "1").length : -1));
    const right = Number(view.right || 0) - 1 in runs ? Number(view.right) - 1 : newly.indexOf(Math.max(...newly));
    const chooser = (name, label, chosen) => h("label", {}, h("span", { class: "label" }, label + " "), h("select", { id: name, onchange: (event) => adjust({ [name]: event.target.value }) },
      runs.map((run, i) => h("option", { value: String(i + 1), selected: i === chosen }, run.name))));
    const body = script ? JSON.parse(script.textContent) : null;
    let pair = h("p", { class: "absent" }, `The answers to this case are not in this page: nothing failed or changed. invoke compare … --case ${cases[at]} shows them.`);
    if (body) {
      const [one, other] = [body[left], body[right]];
      const found = one && other ? difference(one.text, other.text) : [[], []];
      pair = h("div", {},
        !found && h("p", { class: "notice" }, "The answers are too far apart for a word-by-word difference."),
        one && other && one.text === other.text && left !== right && h("p", { class: "soft" }, "Both answers are the same, word for word."),
        h("div", { class: "pair" }, drawSide(one, runs[left], found ? found[0] : [], "left"), drawSide(other, runs[right], found ? found[1] : [], "right")));
    }
    $("case").replaceChildren(
      h("header", { class: "asked-header" }, h("p", { class: "meta" }, h("code", {}, cases[at]), studies[at] && ` · ${studies[at]}`), h("h1", { class: "question", dir: "auto" }, questions[at] || cases[at])),
      h("table", { class: "outcomes" }, h("thead", {}, h("tr", {}, h("th", {}), runs.map((run) => h("th", { scope: "col", class: `side side-${run.side}` }, run.name)))),
        h("tbody", {}, modes.map(([name], m) => {
          const codes = runs.map((_, run) => outcomes[m][run][at]);
          return h("tr", { class: new Set(codes).size > 1 ? "differs-here" : null }, h("th", { scope: "row" }, title[name]),
            runs.map((run, i) => h("td", {}, cell(looked(name)(i, at), run.name, true))));
        }))),
      h("div", { class: "choices" }, chooser("left", "Left", left), chooser("right", "Right", right)),
      pair);
  }

  function route() {
    view = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
    const at = number.get(view.case);
    const opened = at !== undefined;
    drawList();
    const scrolled = openCase === null ? scrollY : null;
    if (scrolled !== null && opened) route.scroll = scrolled;
    $("overview").hidden = opened;
    $("case").hidden = !opened;
    $("pager").hidden = !opened;
    document.body.classList.toggle("reading-case", opened);
    if (opened) {
      drawCase(at);
      const place = shown.indexOf(at);
      $("place").textContent = place < 0 ? "" : `${place + 1} of ${shown.length}`;
      $("previous").disabled = place <= 0;
      $("next").disabled = place < 0 || place >= shown.length - 1;
      if (openCase !== at) { scrollTo(0, 0); $("case").focus({ preventScroll: true }); }
      openCase = at;
    } else if (openCase !== null) {
      const row = $("rows").querySelector(`[data-case="${openCase}"]`);
      openCase = null;
      scrollTo(0, route.scroll || 0);
      if (row) { mark(row); row.querySelector("a").focus({ preventScroll: true }); row.scrollIntoView({ block: "nearest" }); }
    }
  }

  /* --- keys ---------------------------------------------------------------------------------- */
  const mark = (row) => { for (const other of $("rows").querySelectorAll(".current")) other.classList.remove("current"); row.classList.add("current"); };
  function moveRow(by) {
    const rows = [...$("rows").children];
    const here = rows.indexOf(document.activeElement.closest("tr"));
    let to = here < 0 ? (by > 0 ? 0 : rows.length - 1) : here + by;
    if (to >= rows.length && drawn < shown.length) { drawMore(); rows.splice(0, rows.length, ...$("rows").children); }
    to = Math.min(Math.max(to, 0), rows.length - 1);
    if (!rows[to]) return;
    mark(rows[to]);
    rows[to].querySelector("a").focus({ preventScroll: true });
    rows[to].scrollIntoView({ block: "nearest" });
  }
  function step(by) {
    const to = shown[shown.indexOf(openCase) + by];
    if (to !== undefined) adjust({ case: cases[to] });
  }
  function stepMark(by) {
    const marks = [...$("case").querySelectorAll(".answer mark")];
    if (!marks.length) return;
    const here = marks.findIndex((each) => each.classList.contains("current"));
    const to = marks[(here + by + marks.length + (here < 0 && by < 0 ? 1 : 0)) % marks.length];
    for (const each of marks) each.classList.toggle("current", each === to);
    to.focus({ preventScroll: true });
    to.scrollIntoView({ block: "center" });
  }
  const close = () => go({ case: "", left: "", right: "" });
  const LIST_KEYS = { j: () => moveRow(1), ArrowDown: () => moveRow(1), k: () => moveRow(-1), ArrowUp: () => moveRow(-1), r: () => go({ show: view.show === "worse" ? "" : "worse" }) };
  const CASE_KEYS = { j: () => step(1), ArrowRight: () => step(1), k: () => step(-1), ArrowLeft: () => step(-1), n: () => stepMark(1), p: () => stepMark(-1), Escape: close };
  const KEYS_EVERYWHERE = { "/": () => { if (openCase !== null) close(); $("q").focus(); $("q").select(); }, "?": () => $("help").showModal(), t: () => cycleTheme() };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || $("help").open) return;
    const typing = event.target.closest("input, select, textarea");
    if (typing) {
      if (event.key === "Escape") { typing.blur(); event.preventDefault(); }
      if (event.key === "Enter" && typing.id === "q") { moveRow(1); event.preventDefault(); }
      return;
    }
    const digit = /^Digit([1-9])$/.exec(event.code);
    if (digit && openCase !== null && Number(digit[1]) <= runs.length) {
      event.preventDefault();
      adjust({ [event.shiftKey ? "left" : "right"]: digit[1] });
      return;
    }
    const action = (openCase === null ? LIST_KEYS : CASE_KEYS)[event.key] || KEYS_EVERYWHERE[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });

  /* --- start --------------------------------------------------------------------------------- */
  for (const [name, words] of modes) $("mode").append(h("option", { value: name }, words));
  for (const study of [...new Set(studies)].filter(Boolean).sort()) $("study").append(h("option", { value: study }, study));
  $("study").closest("label").hidden = $("study").options.length < 3;
  drawHeads();
  let pending = 0;
  $("q").addEventListener("input", () => { clearTimeout(pending); pending = setTimeout(() => adjust({ q: $("q").value.trim() }), 120); });
  for (const name of FILTERS.slice(1)) $(name).addEventListener("change", () => go({ [name]: $(name).value }));
  $("filters").addEventListener("submit", (event) => event.preventDefault());
  $("filters").addEventListener("reset", (event) => { event.preventDefault(); go(Object.fromEntries(FILTERS.map((name) => [name, ""]))); });
  for (const link of document.querySelectorAll(".modes a")) link.addEventListener("click", (event) => {
    event.preventDefault();
    go({ q: "", study: "", ...Object.fromEntries(new URLSearchParams(link.getAttribute("href").slice(1))) });
    $("matrix-title").scrollIntoView();
    $("matrix-title").focus({ preventScroll: true });
  });
  $("home").addEventListener("click", (event) => { event.preventDefault(); if (openCase !== null) close(); else scrollTo(0, 0); });
  $("rows").addEventListener("click", (event) => {
    const tr = event.target.closest("tr");
    if (tr && !event.target.closest("a") && !String(getSelection())) go({ case: cases[Number(tr.dataset.case)], left: "", right: "" });
  });
  $("more").addEventListener("click", () => drawMore());
  new IntersectionObserver((entries) => { if (entries.some((entry) => entry.isIntersecting)) drawMore(); }, { rootMargin: "600px" }).observe($("more"));
  addEventListener("beforeprint", () => { if (openCase === null) drawMore(shown.length); });
  $("previous").addEventListener("click", () => step(-1));
  $("next").addEventListener("click", () => step(1));
  $("theme").addEventListener("click", cycleTheme);
  $("help-button").addEventListener("click", () => $("help").showModal());
  addEventListener("popstate", route);
  addEventListener("hashchange", route);
  setTheme(rememberedTheme());
  route();
})();
