// A row that is opened without saying what may change takes up what was said last, before anything
// is shown: no answer is seen that breaks a lock. Runs before the page is drawn, and needs nothing.

(() => {
  const SAID = /^(want|least|most|n|method|prefer|max|rules|may\.|low\.|high\.|allow\.)/;
  const project = /\/projects\/([^/]+)\/(rows|cases)\/\d+$/.exec(location.pathname)?.[1];
  const held = project && sessionStorage.getItem(`macex:${project}`);
  const query = new URLSearchParams(location.search);
  if (!held || [...query.keys()].some((name) => SAID.test(name))) return;
  for (const [name, value] of new URLSearchParams(held)) query.append(name, value);
  location.replace(`${location.pathname}?${query}${location.hash}`);
})();
