"use strict";
// Everything that comes from an answer enters the page as text, never as markup.
const $ = (id) => document.getElementById(id);
const h = (tag, props = {}, ...children) => {
  const element = Object.assign(document.createElement(tag), props);
  element.append(...children);
  return element;
};
const LABELS = [[true, "Defect", "d"], [false, "Clean", "c"], [null, "Undecided", "u"]];
let shown = null;
let mode = 0;
// Titles of the material that stay open from one answer to the next.
const opened = new Set();
let saving = Promise.resolve();
// While an answer loads, keys are let go: they would label the one before.
let loading = true;

const fault = (words) => { $("fault").textContent = words || ""; };

async function ask(path, body) {
  const request = body && { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  const reply = await fetch(path, request || {});
  const value = await reply.json();
  if (!reply.ok) throw new Error(value.error);
  return value;
}

async function go(at) {
  if (at < 0) return;
  loading = true;
  await load(at);
  loading = false;
}

async function load(at) {
  await saving;
  try {
    const first = await ask("first");
    if (at >= first.total) {
      const done = first.at >= first.total;
      $("progress").textContent = (shown ? shown.progress : `${first.total} answers`) + (done ? ": all done. This page can be closed." : ": end of the list; some labels are missing further up.");
      if (shown) return;
      at = first.total - 1;
    }
    shown = await ask(String(at));
  } catch (error) {
    fault(`Not loaded: ${error.message}. Is the command still running?`);
    return;
  }
  fault();
  const open = shown.modes.findIndex((each) => !each.given);
  mode = open < 0 ? 0 : open;
  $("answer").textContent = shown.answer;
  $("case").textContent = `${shown.at + 1} of ${shown.total} · ${shown.case_id}`;
  $("progress").textContent = shown.progress;
  $("question").textContent = shown.question;
  $("material").replaceChildren(...shown.material.map(([title, text]) => {
    const details = h("details", { open: opened.has(title) }, h("summary", {}, title), h("div", { className: "text" }, text));
    details.addEventListener("toggle", () => { if (details.open) opened.add(title); else opened.delete(title); });
    return details;
  }));
  draw();
  scrollTo(0, 0);
}

function draw() {
  $("modes").replaceChildren(...shown.modes.map((each, at) => {
    const buttons = LABELS.map(([value, words, key]) => {
      const button = h("button", { type: "button", title: `key ${key}` }, words);
      button.setAttribute("aria-pressed", String(each.given && each.label === value));
      // The passage that is selected goes to the mode whose button is pressed, and stays selected.
      button.addEventListener("mousedown", (event) => event.preventDefault());
      button.addEventListener("click", () => { mode = at; give(value, false); });
      return button;
    });
    const note = h("textarea", { rows: 1, value: each.note, placeholder: "Note" });
    note.setAttribute("aria-label", `Note on ${each.title}`);
    note.addEventListener("change", () => { each.note = note.value; if (each.given) save(each); });
    const item = h("li", {},
      h("h3", {}, each.title), h("p", { className: "help" }, each.definition),
      h("ul", { className: "help" }, ...each.counts.map((text) => h("li", {}, `Counts: ${text}`)), ...each.counts_not.map((text) => h("li", {}, `Does not: ${text}`))),
      h("div", {}, ...buttons), ...(each.passage ? [h("blockquote", {}, each.passage)] : []), note);
    item.setAttribute("aria-current", String(at === mode));
    item.addEventListener("focusin", () => { if (mode !== at) { mode = at; mark(); } });
    return item;
  }));
  reveal();
}

function mark() {
  [...$("modes").children].forEach((item, at) => item.setAttribute("aria-current", String(at === mode)));
  reveal();
}

function reveal() {
  const item = $("modes").children[mode];
  if (item) item.scrollIntoView({ block: "nearest" });
}

function selected() {
  const selection = getSelection();
  const inside = selection.rangeCount && $("answer").contains(selection.anchorNode) && $("answer").contains(selection.focusNode);
  return inside ? selection.toString() : "";
}

function save(each) {
  const label = { case_id: shown.case_id, mode: each.name, label: each.label, passage: each.passage, note: each.note };
  const page = shown;
  saving = saving.then(async () => {
    const reply = await ask("label", label);
    page.progress = reply.progress;
    if (page === shown) $("progress").textContent = reply.progress;
    fault();
  }).catch((error) => {
    each.given = false;
    if (page === shown) draw();
    fault(`Not saved: ${label.mode} of ${label.case_id}: ${error.message}`);
  });
  return saving;
}

function give(value, onward) {
  const each = shown.modes[mode];
  const passage = selected();
  each.label = value;
  each.given = true;
  each.passage = value ? passage || each.passage : "";
  // It belongs to this mode alone: the next label must not take it too.
  if (passage) getSelection().removeAllRanges();
  save(each);
  const next = shown.modes.findIndex((other) => !other.given);
  if (onward && next >= 0) mode = next;
  draw();
  // The last label is seen pressed before the next answer takes its place.
  if (onward && next < 0) { loading = true; setTimeout(() => go(shown.at + 1), 250); }
}

addEventListener("keydown", (event) => {
  if (loading || !shown || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.tagName === "TEXTAREA") { if (event.key === "Escape") event.target.blur(); return; }
  const label = LABELS.find(([, , key]) => key === event.key.toLowerCase());
  const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
  if (label) give(label[0], true);
  else if (step) { mode = (mode + step + shown.modes.length) % shown.modes.length; mark(); }
  else if (event.key === "ArrowLeft") go(shown.at - 1);
  else if (event.key === "ArrowRight") go(shown.at + 1);
  else if (event.key === "n") $("modes").children[mode].querySelector("textarea").focus();
  else return;
  event.preventDefault();
});

ask("first").then(({ at }) => go(at)).catch((error) => fault(error.message));
