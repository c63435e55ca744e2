// Rows that are drawn around in a picture are explained together.

const MOVED = 6; // px that make it a line and not a click
let drawing = null;

export function ready() {
  for (const place of document.querySelectorAll("[data-lasso]")) {
    const help = document.querySelector("[data-lasso-help]");
    if (help) help.hidden = false;
    // The list of rows has the same links: nobody must walk through hundreds of dots by keyboard.
    for (const dot of place.querySelectorAll("a")) dot.setAttribute("tabindex", "-1");
  }
}

document.addEventListener("dragstart", (event) => {
  if (event.target.closest?.("[data-lasso]")) event.preventDefault();
});

document.addEventListener("pointerdown", (event) => {
  const svg = event.target.closest("[data-lasso] svg");
  if (!svg || event.button !== 0 || !document.querySelector("[data-lasso-help]")) return;
  drawing = { svg, points: [inside(svg, event)], from: [event.clientX, event.clientY], line: null };
});

document.addEventListener("pointermove", (event) => {
  if (!drawing) return;
  const [x, y] = drawing.from;
  if (!drawing.line && Math.hypot(event.clientX - x, event.clientY - y) < MOVED) return;
  drawing.line ??= begun(drawing.svg);
  drawing.points.push(inside(drawing.svg, event));
  drawing.line.setAttribute("points", drawing.points.map((p) => p.join(",")).join(" "));
});

document.addEventListener("pointerup", () => {
  if (drawing?.line) choose(drawing);
  drawing = null;
});

document.addEventListener("click", (event) => {
  const drawn = event.target.closest?.("[data-lasso] svg")?.dataset.drawn;
  if (drawn && Date.now() - Number(drawn) < 300) event.preventDefault(); // the end of a line opens no row
}, true);

function inside(svg, event) {
  const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
  return [Math.round(point.x), Math.round(point.y)];
}

function begun(svg) {
  svg.querySelector(".mx-lasso")?.remove();
  const line = document.createElementNS("http://www.w3.org/2000/svg", "polygon");
  line.setAttribute("class", "mx-lasso");
  svg.append(line);
  return line;
}

function choose({ svg, points }) {
  svg.dataset.drawn = Date.now();
  const keys = [];
  for (const dot of svg.querySelectorAll("a[data-key] circle")) {
    const within = around(points, dot.cx.baseVal.value, dot.cy.baseVal.value);
    dot.classList.toggle("mx-chosen", within);
    if (within) keys.push(dot.parentNode.dataset.key);
  }
  offer(svg.closest("[data-lasso]"), keys);
}

function offer(place, keys) {
  place.querySelector("p")?.remove();
  if (!keys.length) return;
  const link = document.createElement("a");
  link.className = "mx-button";
  link.href = `${place.dataset.lasso}?${new URLSearchParams({ rows: keys.join(",") })}`;
  link.textContent = `Explain these ${keys.length} rows`;
  const line = document.createElement("p");
  line.setAttribute("role", "status");
  line.append(link);
  place.append(line);
}

// Whether a point lies within a closed line: a ray from it crosses the line an odd number of times.
function around(points, x, y) {
  let odd = false;
  for (let at = 0, last = points.length - 1; at < points.length; last = at, at += 1) {
    const [ax, ay] = points[at];
    const [bx, by] = points[last];
    if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) odd = !odd;
  }
  return odd;
}
