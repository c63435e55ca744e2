// Keys: rows by j and k, what is looked for by /, a palette of all that the page can do.

const typing = (node) => node.closest("input:not([type=range], [type=checkbox], [type=radio]), textarea, select, [contenteditable]");
const shown = (node) => node.checkVisibility() && !node.disabled;
const first = (selector) => [...document.querySelectorAll(selector)].find(shown);

const KEYS = {
  j: () => row(1),
  k: () => row(-1),
  "/": () => first("main [data-finder], main input[type=search], main [name=where]")?.focus(),
  u: () => first("[data-undo]")?.click(),
  r: () => first("[data-redo]")?.click(),
  "?": () => document.getElementById("keys").showModal(),
};

document.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
    event.preventDefault();
    return open();
  }
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (document.querySelector("dialog[open]")) return within(event);
  const field = typing(event.target);
  if (field && event.key === "Escape" && !event.isComposing) {
    event.preventDefault();
    return field.blur();
  }
  if (field || !KEYS[event.key]) return;
  event.preventDefault();
  KEYS[event.key]();
});

// On the page of a row another row; in a list the next line, which Enter opens.
function row(by) {
  const link = first(by > 0 ? "a[rel=next]" : "a[rel=prev]");
  const lines = [...document.querySelectorAll("#rows tbody th a")];
  if (!lines.length) return link?.click();
  const at = lines.indexOf(document.activeElement);
  const to = at < 0 ? (by > 0 ? 0 : lines.length - 1) : at + by;
  if (lines[to]) lines[to].focus();
  else link?.click();
}

// The palette: links of the page, its buttons, and its columns, by what they say.
const own = document.getElementById("palette-list")?.innerHTML;

function open() {
  const palette = document.getElementById("palette");
  const list = document.getElementById("palette-list");
  list.innerHTML = own;
  list.append(...found().map(([text, act]) => entry(text, act)));
  document.getElementById("palette-text").value = "";
  if (!palette.open) palette.showModal();
  sift();
}

function found() {
  const said = (node) => (node.getAttribute("aria-label") ?? node.textContent).trim();
  const links = [...document.querySelectorAll("header nav a, main nav a, .mx-saved a, .mx-doing a, .mx-doing button, .mx-exports a")];
  const columns = [...document.querySelectorAll(".mx-cells tr[data-named]:not(.mx-curve-line)")];
  return [
    ...links.filter(shown).map((node) => [said(node), () => node.click()]),
    ...columns.map((line) => [line.dataset.named, () => reach(line)]),
  ];
}

function reach(line) {
  const group = line.closest("details");
  if (group) group.open = true;
  line.querySelector("[data-live]").focus();
}

function entry(text, act) {
  const button = Object.assign(document.createElement("button"), { type: "button", textContent: text });
  button.className = "mx-plain";
  button.addEventListener("click", () => {
    document.getElementById("palette").close();
    act();
  });
  const item = document.createElement("li");
  item.append(button);
  return item;
}

function sift() {
  const text = document.getElementById("palette-text").value.trim().toLowerCase();
  for (const item of document.querySelectorAll("#palette-list li")) {
    item.hidden = !item.textContent.toLowerCase().includes(text);
  }
}

document.getElementById("palette-text")?.addEventListener("input", sift);

function within(event) {
  if (!document.getElementById("palette").open) return;
  const entries = [...document.querySelectorAll("#palette-list li:not([hidden]) :is(a, button)")];
  const at = entries.indexOf(document.activeElement);
  const to = { ArrowDown: at + 1, ArrowUp: at - 1 }[event.key];
  if (to !== undefined) {
    event.preventDefault();
    (entries[to] ?? document.getElementById("palette-text")).focus();
  } else if (event.key === "Enter" && at < 0) {
    event.preventDefault();
    entries[0]?.click();
  }
}

for (const told of document.querySelectorAll("[data-keys]")) told.hidden = false;
