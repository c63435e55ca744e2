// What the columns of a chosen file are taken for, shown to be corrected before it is sent.

export async function inspect(form) {
  const place = document.getElementById("columns");
  const { data, label, drop, schema } = form.elements;
  schema.value = "";
  place.replaceChildren();
  if (!data.files.length) return;
  place.textContent = "Reading the columns…";
  const answer = await ask(form, data.files[0], label.value, drop.value);
  const said = await answer.json();
  if (!answer.ok) {
    place.replaceChildren(make("p", { className: "mx-fault", textContent: said.detail }));
    return;
  }
  place.replaceChildren(
    make("h2", { textContent: `${said.rows.toLocaleString("en")} rows, columns taken for` }),
    table(said.columns, place.dataset.kinds.split(" ").filter((kind) => kind !== "one-hot")),
  );
  place.oninput = () => {
    schema.value = JSON.stringify(corrected(place, said.columns));
  };
}

function ask(form, file, label, drop) {
  const body = new FormData();
  body.append("data", file);
  if (label.trim()) body.append("label", label.trim());
  for (const name of drop.split(",")) if (name.trim()) body.append("drop", name.trim());
  const token = document.querySelector("meta[name=csrf]")?.content;
  const headers = token ? { "X-CSRF-Token": token } : {};
  return fetch(new URL("api/v1/inspect", form.action), { method: "POST", body, headers });
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
