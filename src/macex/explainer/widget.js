// The what-if of a notebook: fields, locks and answers. The kernel has the model; while a slider
// moves, the next question waits for the answer to the last.

const PATIENCE = 3000; // ms without an answer before the kernel is said to be busy
const LATE = "The kernel is busy or gone: the score is not of these values yet.";
let views = 0;

export default {
  render({ model, el }) {
    const view = new View(model, el);
    return () => view.end();
  },
};

class View {
  constructor(model, el) {
    this.model = model;
    this.el = el;
    this.before = [];
    this.after = [];
    this.typing = null;
    this.waiting = false;
    this.unsent = {};
    el.innerHTML = model.get("form").replaceAll("__view__", `mx${(views += 1)}`);
    this.heard = {
      "change:verdicts": () => this.put("verdicts"),
      "change:answers": () => this.put("answers"),
      "change:drawn": () => this.draw(),
      "change:typed": () => this.fill(),
      "change:locked": () => this.lock(),
      "change:offered": () => this.offer(),
      "change:told": () => this.told(),
    };
    for (const [name, act] of Object.entries(this.heard)) model.on(name, act);
    for (const name of ["input", "click", "focusin"]) el.addEventListener(name, (event) => this[name](event));
    el.querySelector("form").addEventListener("submit", (event) => event.preventDefault());
    for (const hidden of el.querySelectorAll(".mx-slider, .mx-finder")) hidden.hidden = false;
    this.put("verdicts");
    this.put("answers");
    this.fill();
    this.lock();
    this.draw();
  }

  end() {
    clearTimeout(this.patience);
    for (const [name, act] of Object.entries(this.heard)) this.model.off(name, act);
  }

  get locked() {
    return this.unsent.locked ?? this.model.get("locked");
  }

  get typed() {
    return this.unsent.typed ?? this.model.get("typed");
  }

  // What people do

  input({ target }) {
    if ("finder" in target.dataset) return this.find(target);
    const cell = target.dataset.for ? this.el.querySelector(`#${target.dataset.for}`) : target;
    if (target.dataset.for) cell.value = target.value;
    else this.slide(cell);
    if (target.dataset.search) this.send({ sought: { column: target.dataset.search, text: target.value } });
    const typed = { ...this.typed };
    if (cell.value === cell.dataset.own) delete typed[cell.name];
    else typed[cell.name] = cell.value;
    this.edit(typed, this.typing === cell);
    this.typing = cell;
  }

  // One run of keys in one cell, or one move of its slider, is one edit.
  focusin() {
    this.typing = null;
  }

  click({ target }) {
    const button = target.closest("button");
    if (!button) return;
    const { lock, curve, apply } = button.dataset;
    if (lock !== undefined) this.turn(lock);
    else if (curve !== undefined) this.send({ curve: this.model.get("curve") === curve ? "" : curve });
    else if (apply !== undefined) this.edit(this.model.get("applied")[Number(apply)]);
    else if ("reset" in button.dataset) this.edit({});
    else if ("undo" in button.dataset) this.step(this.before, this.after);
    else if ("redo" in button.dataset) this.step(this.after, this.before);
    if (apply !== undefined || "reset" in button.dataset) this.fill();
  }

  edit(typed, same = false) {
    if (!same) this.before.push(this.typed);
    this.after = [];
    this.send({ typed });
    this.mark();
  }

  step(from, to) {
    if (!from.length) return;
    to.push(this.typed);
    this.send({ typed: from.pop() });
    this.fill();
  }

  turn(column) {
    const held = this.locked.includes(column);
    this.send({ locked: held ? this.locked.filter((one) => one !== column) : [...this.locked, column] });
    this.lock(); // before the kernel answers
    this.part("answers").setAttribute("aria-busy", "true");
  }

  // What is asked of the kernel

  send(values) {
    Object.assign(this.unsent, values);
    if (this.waiting) return;
    this.waiting = true;
    const now = { ...this.unsent, asked: this.model.get("asked") + 1 };
    this.unsent = {};
    for (const [name, value] of Object.entries(now)) this.model.set(name, value);
    this.model.save_changes();
    clearTimeout(this.patience);
    this.patience = setTimeout(() => this.wait(LATE), PATIENCE);
  }

  told() {
    clearTimeout(this.patience);
    this.wait("");
    this.waiting = false;
    if (Object.keys(this.unsent).length) this.send({});
    else this.part("answers").removeAttribute("aria-busy");
  }

  // What is shown

  part(name) {
    return this.el.querySelector(`[data-part=${name}]`);
  }

  put(name) {
    this.part(name).innerHTML = this.model.get(name);
  }

  wait(text) {
    this.el.querySelector("[data-wait]").textContent = text;
  }

  cells() {
    return this.el.querySelectorAll("[data-cell] [data-live]");
  }

  // The fields as they are typed, wherever that was.
  fill() {
    for (const cell of this.cells()) {
      const value = this.typed[cell.name] ?? cell.dataset.own;
      if (cell.type === "radio") cell.checked = cell.value === value;
      else if (cell.value !== value) cell.value = value;
      this.slide(cell);
    }
    this.mark();
  }

  mark() {
    for (const cell of this.el.querySelectorAll("[data-cell]")) {
      cell.classList.toggle("mx-edited", cell.dataset.cell in this.typed);
    }
    const say = (name, off) => (this.el.querySelector(`[data-${name}]`).disabled = off);
    say("undo", !this.before.length);
    say("redo", !this.after.length);
    say("reset", !Object.keys(this.typed).length);
  }

  slide(cell) {
    const slider = cell.id && this.el.querySelector(`[data-for="${cell.id}"]`);
    if (slider && cell.value !== "" && !Number.isNaN(Number(cell.value))) slider.value = cell.value;
  }

  lock() {
    for (const button of this.el.querySelectorAll("[data-lock]:not([disabled])")) {
      const held = this.locked.includes(button.dataset.lock);
      button.setAttribute("aria-pressed", String(held));
    }
  }

  draw() {
    this.el.querySelector(".mx-curve-line")?.remove();
    const { column, html } = this.model.get("drawn");
    for (const button of this.el.querySelectorAll("[data-curve]")) {
      const here = button.dataset.curve === column;
      button.setAttribute("aria-pressed", String(here));
      if (!here) continue;
      const line = document.createElement("tr");
      line.className = "mx-curve-line";
      line.innerHTML = `<td colspan="3">${html}</td>`;
      button.closest("tr").after(line);
    }
  }

  offer() {
    const { column, texts } = this.model.get("offered");
    for (const field of this.el.querySelectorAll("[data-search]")) {
      if (field.dataset.search !== column) continue;
      const list = this.el.querySelector(`#${field.getAttribute("list")}`);
      list.replaceChildren(...texts.map((text) => new Option(text, text)));
    }
  }

  find(finder) {
    const text = finder.value.trim().toLowerCase();
    for (const line of this.el.querySelectorAll("[data-named]")) {
      line.hidden = text !== "" && !line.dataset.named.includes(text);
    }
    for (const group of this.el.querySelectorAll(".mx-group")) {
      const hits = group.querySelector("[data-named]:not([hidden])");
      group.hidden = !hits;
      if (text && hits) group.open = true;
    }
  }
}
