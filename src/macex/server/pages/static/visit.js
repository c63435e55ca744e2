// What was asked and what may change is remembered for the visit, project by project; first.js takes
// it up where a row is opened without saying anything of it.

const SAID = /^(want|least|most|n|method|prefer|max|rules|may\.|low\.|high\.|allow\.)/;

export function remember(form) {
  if (!form?.dataset.project) return;
  const said = [...new URLSearchParams(location.search)].filter(([key]) => SAID.test(key));
  sessionStorage.setItem(key(form), new URLSearchParams(said).toString());
}

// Links to other rows, and back to the list, take along what is said now.
export function carry() {
  const said = [...new URLSearchParams(location.search)].filter(([key]) => SAID.test(key));
  for (const link of document.querySelectorAll(".mx-around a")) {
    const kept = [...new URL(link.href).searchParams].filter(([key]) => !SAID.test(key));
    link.search = new URLSearchParams([...kept, ...said]).toString();
  }
}

const key = (form) => `macex:${form.dataset.project}`;
