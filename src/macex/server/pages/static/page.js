// The pages without reloads. Everything here can be done without it, by links and forms: it only
// fetches the same addresses in parts and puts the parts in their places.

import { refresh, say, show } from "./parts.js";
import { cellsOf, stateOf, untouched, withCells, withVariant, withView } from "./state.js";
import { inspect } from "./columns.js";
import { find } from "./finding.js";
import { ready as lassoReady } from "./lasso.js";
import { follow } from "./jobs.js";
import { carry, remember } from "./visit.js";
import "./keys.js";

const ASKED = ["answers", "verdicts", "gist", "curve", "map", "compare"];
const ROOM = 8; // px between the scores and a field
const TYPING = 160; // ms without a key before the model is asked
let waiting = 0;

const form = () => document.getElementById("state");
const here = () => location.pathname + location.search;
const parts = (names) => (names ?? "").split(" ").filter(Boolean);
let shown = here();

// A new address: the state of the form, or one that was clicked. The history of an address keeps
// the cells there were before each edit, and those that were taken back, for Undo and Redo; what
// may change is no edit.
function goTo(url, names, { replace = false, edit = false } = {}) {
  const { before = [], after = [] } = history.state ?? {};
  const kept = edit && !replace ? [...before, cellsOf(location.href)] : before;
  if (url !== location.href) {
    const state = { before: kept, after: edit ? [] : after };
    history[replace ? "replaceState" : "pushState"](state, "", url);
  }
  remember(form());
  return refresh(names).then(ready);
}

function undo() {
  const { before = [], after = [] } = history.state ?? {};
  step(before.slice(0, -1), [...after, cellsOf(location.href)], before.at(-1));
}

function redo() {
  const { before = [], after = [] } = history.state ?? {};
  step([...before, cellsOf(location.href)], after.slice(0, -1), after.at(-1));
}

function step(before, after, cells) {
  history.pushState({ before, after }, "", withCells(location.href, cells ?? ""));
  return refresh(["whatif", "map"]).then(ready);
}

function later(act) {
  clearTimeout(waiting);
  waiting = setTimeout(act, TYPING);
}

// While a slider moves the score follows: the next question waits for the answer to the last.
let moving = null;
let moved = null;
function followSlider(act) {
  moved = act;
  if (moving) return;
  moving = act().finally(() => {
    moving = null;
    if (moved !== act) followSlider(moved);
  });
}

document.addEventListener("input", (event) => {
  const field = event.target;
  if ("finder" in field.dataset) return find(field);
  if (field.dataset.for) {
    document.getElementById(field.dataset.for).value = field.value;
  } else if (field.dataset.search) {
    offer(field);
  }
  const cell = field.dataset.for ? document.getElementById(field.dataset.for) : field;
  if ("live" in cell.dataset) {
    mark(cell);
    if (!field.dataset.for) slide(cell);
    const touched = parts(cell.dataset.touches);
    const ask = () => goTo(stateOf(form()), touched, { replace: typingOn(cell), edit: true });
    if (field.dataset.for || field.type === "radio") followSlider(ask);
    else later(ask);
  } else if (field.form?.dataset.part) {
    const ask = () => goTo(stateOf(field.form), parts(field.form.dataset.part), { replace: true });
    if (field.type === "range") followSlider(ask);
    else later(ask);
  }
});

document.addEventListener("change", (event) => {
  const field = event.target;
  const cell = field.dataset.for ? document.getElementById(field.dataset.for) : field;
  if ("live" in cell.dataset) {
    settle(cell);
  } else if (field.dataset.touches && field.form) {
    clearTimeout(waiting);
    goTo(stateOf(field.form), parts(field.dataset.touches));
  } else if ("inspect" in field.dataset) {
    inspect(field.form);
  }
});

// What takes more than the score alone is asked for when a value stays.
function settle(cell) {
  const query = new URLSearchParams(location.search);
  const open = { curve: query.get("curve"), map: query.get("mapx") && query.get("mapy") };
  const names = parts(cell.dataset.settles).filter((name) => open[name]);
  if (names.length) later(() => goTo(stateOf(form()), [...names, "verdicts"], { replace: true, edit: true }));
}

document.addEventListener("submit", (event) => {
  if ("keep" in event.target.dataset) {
    event.target.elements.state.value = location.pathname + location.search;
    return;
  }
  if (event.target.enctype === "multipart/form-data") say("Sending the files…");
  const part = event.target.dataset.part ?? (event.target.id === "state" ? ASKED.join(" ") : "");
  if (part) {
    event.preventDefault();
    goTo(stateOf(event.target), part.split(" "));
  }
});

document.addEventListener("click", (event) => {
  const link = event.target.closest("a, button");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const { part, apply, variant, lock } = link.dataset;
  if (part) {
    event.preventDefault();
    goTo(link.href, [part]).then(() => document.querySelector(".mx-scroll")?.scrollTo(0, 0));
  } else if (apply || variant) {
    event.preventDefault();
    goTo(withVariant(form(), link.href, apply || variant), ["whatif", "map"], { edit: true }).then(() => {
      document.getElementById("whatif").scrollIntoView({ block: "nearest" });
    });
  } else if ("undo" in link.dataset) {
    undo();
  } else if ("redo" in link.dataset) {
    redo();
  } else if (link.dataset.view !== undefined || link.dataset.curve) {
    event.preventDefault();
    const part = link.dataset.view ?? "whatif";
    goTo(withView(form(), link.href), [part]);
  } else if (lock !== undefined) {
    const may = form().elements[`may.${lock}`];
    may.value = may.value === "keep" ? "" : "keep";
    link.setAttribute("aria-pressed", String(may.value === "keep")); // before the server answers
    may.dispatchEvent(new Event("change", { bubbles: true }));
  }
});

window.addEventListener("macex:shown", ready);

// Back and forward; a step within the page, to an anchor, shows nothing new.
window.addEventListener("popstate", () => {
  if (shown !== here()) show(location.href).then(ready);
});

// One run of keys in one cell is one edit: the first of them makes a new entry of the history.
let typedIn = null;
function typingOn(cell) {
  const same = typedIn === cell;
  typedIn = cell;
  return same;
}
document.addEventListener("focusin", ({ target }) => {
  typedIn = null;
  uncover(target);
  if (target.dataset.search) offer(target);
});

// The scores stay in sight above the cells, and must not hide the one that is filled in.
function uncover(field) {
  const bar = document.getElementById("verdicts");
  if (!bar || !field.closest(".mx-cells")) return;
  const hidden = bar.getBoundingClientRect().bottom - field.getBoundingClientRect().top + ROOM;
  if (hidden > 0) window.scrollBy(0, -hidden);
}

function mark(cell) {
  cell.closest("td").classList.toggle("mx-edited", cell.value !== cell.dataset.own);
}

function slide(cell) {
  const slider = document.querySelector(`[data-for="${CSS.escape(cell.id)}"]`);
  if (slider && cell.value !== "" && !Number.isNaN(Number(cell.value))) slider.value = cell.value;
}

// The categories that begin with or hold what was typed, of columns that have very many. An answer
// that was overtaken by a later question is dropped.
let offered = 0;
async function offer(field) {
  const turn = (offered += 1);
  const base = location.pathname.replace(/\/rows\/.*/, "");
  const query = new URLSearchParams({ column: field.dataset.search, q: field.value });
  const answer = await fetch(`${base}/values?${query}`).catch(() => null);
  if (!answer?.ok) return;
  const options = (await answer.json()).map((text) => new Option(text, text));
  if (turn !== offered) return;
  field.list.replaceChildren(...options);
}

// What only a page with this module can do is shown by it.
function ready() {
  shown = here();
  carry();
  for (const slider of document.querySelectorAll(".mx-slider[hidden]")) slider.hidden = false;
  for (const [name, list] of [["undo", "before"], ["redo", "after"]]) {
    const button = document.querySelector(`[data-${name}]`);
    if (!button) continue;
    button.hidden = false;
    button.disabled = !history.state?.[list]?.length;
  }
  for (const finder of document.querySelectorAll("[data-finder]")) {
    finder.closest("label").hidden = false;
    if (finder.value) find(finder);
  }
  for (const lock of document.querySelectorAll("[data-lock]")) {
    lock.hidden = false;
    if (lock.disabled) continue;
    const kept = form().elements[`may.${lock.dataset.lock}`].value === "keep";
    lock.setAttribute("aria-pressed", String(kept));
  }
  const faulty = new Set([...document.querySelectorAll("[data-fault]")].map((p) => p.dataset.fault));
  for (const cell of document.querySelectorAll("[data-live]:not([type=radio])")) {
    cell.setAttribute("aria-invalid", String(faulty.has(cell.name)));
  }
  lassoReady();
  follow();
}

// What was typed before this module came is not lost.
function catchUp() {
  if (document.activeElement.dataset.search) offer(document.activeElement);
  for (const one of document.querySelectorAll("#state, form[data-part]")) {
    const names = one.id === "state" ? ASKED : parts(one.dataset.part);
    if (!untouched(one)) goTo(stateOf(one), names, { replace: true });
  }
}

remember(form());
ready();
catchUp();
