// Columns by a part of their name, where there are many.

export function find(finder) {
  const text = finder.value.trim().toLowerCase();
  const section = finder.closest("section");
  for (const line of section.querySelectorAll("[data-named]")) {
    line.hidden = text !== "" && !line.dataset.named.includes(text);
  }
  for (const group of section.querySelectorAll(".mx-group")) {
    const hits = group.querySelector("[data-named]:not([hidden])");
    group.hidden = !hits;
    if (text && hits) group.open = true;
  }
}
