// What the columns of a chosen file are taken for, shown to be corrected before it is sent.

let latest = null;
let asked = "";

export async function inspect(form) {
  const place = document.getElementById("columns");
  const { data, label, drop, schema } = form.elements;
  const file = data.files[0];
  const now = JSON.stringify([file?.name, file?.size, file?.lastModified, label.value, drop.value]);
  if (!file || now === asked) return;
  asked = now;
  latest?.abort();
  if (/\.np[yz]$/i.test(file.name)) return place.replaceChildren(); // time series have no columns
  const mine = (latest = new AbortController());
  if (!place.children.length) place.textContent = "Reading the columns…";
  const answer = await ask(form, mine.signal).catch(() => null);
  const said = await answer?.json();
  if (mine.signal.aborted || !answer) return;
  place.replaceChildren(...(answer.ok ? shown(said, place) : [fault(said.detail)]));
  const correct = () => {
    schema.value = JSON.stringify(corrected(place, said.columns ?? {}));
  };
  place.oninput = correct;
  correct();
}

const fault = (text) => make("p", { className: "mx-fault", textContent: text });

// The table of columns; what was corrected before stays so.
function shown(said, place) {
  const before = new Map([...place.querySelectorAll("select")].map((s) => [s.dataset.column, s.value]));
  const kinds = place.dataset.kinds.split(" ").filter((kind) => kind !== "one-hot");
  const made = table(said.columns, kinds);
  for (const pick of made.querySelectorAll("select")) {
    pick.value = before.get(pick.dataset.column) ?? pick.value;
  }
  const count = said.rows.toLocaleString("en");
  return [make("h2", { textContent: `${count} rows, columns taken for` }), made];
}

function ask(form, signal) {
  const { data, label, drop } = form.elements;
  const body = new FormData();
  body.append("data", data.files[0]);
  if (label.value.trim()) body.append("label", label.value.trim());
  for (const name of drop.value.split(",")) if (name.trim()) body.append("drop", name.trim());
  const token = document.querySelector("meta[name=csrf]")?.content;
  const headers = token ? { "X-CSRF-Token": token } : {};
  return fetch(new URL("api/v1/inspect", form.action), { method: "POST", body, headers, signal });
}

function table(columns, kinds) {
  const lines = Object.entries(columns).map(([name, column]) => {
    const known = kinds.includes(column.kind) ? kinds : [...kinds, column.kind];
    const options = known.map((kind) => new Option(kind, kind, false, kind === column.kind));
    const pick = make("select", { name: "" }, options);
    pick.dataset.column = name;
    pick.setAttribute("aria-label", `${name} is`);
    const head = make("th", { scope: "row", textContent: name });
    return make("tr", {}, [head, make("td", {}, [pick]), make("td", { textContent: span(column) })]);
  });
  const heads = ["column", "kind", "values"].map((text) => {
    return make("th", { scope: "col", textContent: text });
  });
  const body = [make("thead", {}, [make("tr", {}, heads)]), make("tbody", {}, lines)];
  return make("table", { className: "mx-table" }, body);
}

function span({ low, high, values }) {
  if (values) return values.slice(0, 5).join(", ") + (values.length > 5 ? ", …" : "");
  return low === undefined ? "" : `${low} to ${high}`;
}

// Only what was changed: everything else is inferred again.
function corrected(place, columns) {
  const picks = [...place.querySelectorAll("select")];
  const changed = picks.filter((pick) => pick.value !== columns[pick.dataset.column].kind);
  return Object.fromEntries(changed.map((pick) => [pick.dataset.column, { kind: pick.value }]));
}

function make(tag, properties, children = []) {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children);
  return node;
}
