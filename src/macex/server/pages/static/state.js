// The address that a form stands for: what says something, and nothing else.

export function stateOf(form) {
  if ("merge" in form.dataset) return merged(form);
  const query = new URLSearchParams();
  for (const field of form.elements) {
    if (!field.name || field.disabled || field.tagName === "FIELDSET") continue;
    if ((field.type === "checkbox" || field.type === "radio") && !field.checked) continue;
    if (says(field)) query.append(field.name, field.value);
  }
  if (form.id === "state") keep(query, new URLSearchParams(location.search));
  return address(query);
}

// The address with what a form says of its own fields; all else stays.
function merged(form) {
  const query = new URLSearchParams(location.search);
  for (const field of form.elements) {
    if (!field.name || field.type === "hidden") continue;
    query.delete(field.name);
    if (says(field)) query.append(field.name, field.value);
  }
  return address(query);
}

// What no field of the form holds.
const VIEWED = ["two", "curve", "compare"];

function keep(query, from) {
  for (const name of VIEWED) {
    query.delete(name);
    if (from.get(name)) query.set(name, from.get(name));
  }
}

// The form's address with another curve or comparison.
export function withView(form, href) {
  const query = new URL(stateOf(form)).searchParams;
  keep(query, new URL(href).searchParams);
  return address(query);
}

// The form's address with the cells of one variant taken from another address.
export function withVariant(form, href, letter) {
  const given = new URL(href).searchParams;
  const query = new URL(stateOf(form)).searchParams;
  const own = (key) => key.startsWith(`${letter}.`) || (letter === "b" && key === "two");
  for (const key of [...query.keys()]) if (own(key)) query.delete(key);
  for (const [key, value] of given) if (own(key)) query.append(key, value);
  return address(query);
}

// The cells of both variants that an address holds, and the address with others in their place.
const cell = (key) => /^[ab]\./.test(key) || key === "two";

export function cellsOf(href) {
  const kept = [...new URL(href).searchParams].filter(([key]) => cell(key));
  return new URLSearchParams(kept).toString();
}

export function withCells(href, cells) {
  const kept = [...new URL(href).searchParams].filter(([key]) => !cell(key));
  return address(new URLSearchParams([...kept, ...new URLSearchParams(cells)]));
}

// Whether a form is as the server sent it.
export function untouched(form) {
  return [...form.elements].every((field) => {
    if (field.type === "hidden" || field.type === "range") return true;
    if (field.type === "checkbox" || field.type === "radio") return field.checked === field.defaultChecked;
    if (field.options) return field.selectedOptions[0] === sent(field);
    return field.defaultValue === undefined || field.value === field.defaultValue;
  });
}

const sent = ({ options }) => [...options].find((one) => one.defaultSelected) ?? options[0];

function says(field) {
  if (field.dataset.own !== undefined) return field.value !== field.dataset.own;
  return field.value !== "" && field.value !== field.dataset.usual;
}

function address(query) {
  const text = query.toString();
  return location.origin + location.pathname + (text ? `?${text}` : "");
}
