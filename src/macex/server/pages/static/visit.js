// What was asked and what may change is remembered for the visit, project by project: a row that
// is opened without saying anything of it takes up what was said last.

const SAID = /^(want|least|most|n|method|prefer|max|rules|may\.|low\.|high\.|allow\.)/;

export function remember(form) {
  if (!form?.dataset.project) return;
  const said = [...new URLSearchParams(location.search)].filter(([key]) => SAID.test(key));
  sessionStorage.setItem(key(form), new URLSearchParams(said).toString());
}

export function takeUp(form) {
  if (!form?.dataset.project) return null;
  const query = new URLSearchParams(location.search);
  const held = sessionStorage.getItem(key(form));
  if (!held || [...query.keys()].some((name) => SAID.test(name))) return null;
  for (const [name, value] of new URLSearchParams(held)) query.append(name, value);
  return `${location.pathname}?${query}`;
}

const key = (form) => `macex:${form.dataset.project}`;
