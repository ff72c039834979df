"use strict";
/* What the pages share. Text only ever enters a page as text nodes. */
const $ = (id) => document.getElementById(id);
const plural = (n, noun) => `${n} ${noun}${n === 1 ? "" : "s"}`;
const fold = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").replace(/[’ʼ]/g, "'").toLowerCase();

/* h("p", {class: "x", onclick: f}, child, …): an element; strings become text nodes. */
function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === false || value === null || value === undefined) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false && child !== ""));
  return element;
}

/* JSON, compressed and in base64, as the page holds it. */
async function unpack(text) {
  const bytes = Uint8Array.from(atob(text.trim()), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
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
      const plain = fold(letter);
      for (let n = 0; n < plain.length; n += 1) origin.push(at);
      folded += plain;
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
function cycleTheme() {
  setTheme(THEMES[(THEMES.indexOf(document.documentElement.dataset.theme || "auto") + 1) % THEMES.length]);
}
