// Parts of a page, fetched from the page's own address.

let latest = null;
const wanted = new Set(); // what a request that was overtaken would have brought, too

export async function refresh(parts) {
  if (!parts.length && !wanted.size) return;
  for (const part of parts) wanted.add(part);
  latest?.abort();
  const mine = (latest = new AbortController());
  for (const part of wanted) document.getElementById(part)?.setAttribute("aria-busy", "true");
  try {
    const headers = { "X-Macex-Parts": [...wanted].join(" ") };
    const answer = await fetch(location.href, { headers, signal: mine.signal });
    if (answer.redirected) location.reload(); // the session is over
    const text = await answer.text();
    if (mine !== latest) return;
    put(new DOMParser().parseFromString(text, "text/html"), answer.ok);
  } catch (error) {
    if (error.name !== "AbortError") lost(mine);
  }
}

// No answer came: what was asked for is not shown as if it still held, and is asked for again.
const AGAIN = 3000; // ms
const SILENCE = "The server does not answer. This is asked again.";
function lost(mine) {
  for (const part of wanted) {
    const place = document.getElementById(part);
    place?.removeAttribute("aria-busy");
    if (!place || place.classList.contains("mx-stale")) continue;
    place.classList.add("mx-stale");
    place.prepend(Object.assign(document.createElement("p"), { className: "mx-fault mx-silence", textContent: SILENCE }));
  }
  const retry = () => mine === latest && refresh([]).then(() => dispatchEvent(new Event("macex:shown")));
  setTimeout(retry, AGAIN);
}
window.addEventListener("online", () => wanted.size && refresh([]));

// A part that takes a while, beside whatever else is asked for; it is asked for again until it comes.
export async function load(part) {
  const place = () => document.getElementById(part);
  place()?.setAttribute("aria-busy", "true");
  const answer = await fetch(location.href, { headers: { "X-Macex-Parts": part } }).catch(() => null);
  if (!answer?.ok) {
    say(SILENCE);
    return setTimeout(() => place() && load(part), AGAIN);
  }
  const made = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById(part);
  place()?.removeAttribute("aria-busy");
  if (made && place()) keepingFocus(() => fill(place(), made));
  dispatchEvent(new Event("macex:shown"));
}

// The page of an address as a whole, in the place of this one.
export async function show(href) {
  const answer = await fetch(href).catch(() => null);
  if (!answer) return say("The server does not answer.");
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  document.title = page.title;
  keepingFocus(() => document.querySelector("main").replaceWith(page.querySelector("main")));
}

export function say(text) {
  document.getElementById("notice").textContent = text;
  setTimeout(() => say(""), 4000 * Boolean(text));
}

function put(page, fine) {
  for (const part of wanted) {
    const made = page.getElementById(part);
    const place = document.getElementById(part);
    place?.removeAttribute("aria-busy");
    if (made && place) keepingFocus(() => fill(place, made));
  }
  wanted.clear();
  if (!fine) say("The server could not answer that.");
}

// A live region is kept and its content replaced, or it would not be read aloud.
function fill(place, made) {
  place.classList.remove("mx-stale");
  asItWas(place, made);
  if (place.getAttribute("aria-live")) place.replaceChildren(...made.childNodes);
  else place.replaceWith(made);
}

// What was opened stays open, and what was looked for is looked for.
function asItWas(place, made) {
  for (const one of place.querySelectorAll("details[id]")) {
    const twin = made.querySelector(`#${CSS.escape(one.id)}`);
    if (twin) twin.open ||= one.open;
  }
  const sought = place.querySelector("[data-finder]")?.value;
  const finder = made.querySelector("[data-finder]");
  if (sought && finder) finder.value = sought;
}

// Whoever uses the keyboard stays where they are: on the same thing of the new part.
function keepingFocus(replace) {
  const held = document.activeElement;
  replace();
  if (held.isConnected) return;
  (twin(held) ?? document.getElementById("main")).focus({ preventScroll: true });
}

function twin(held) {
  if (held.id) return document.getElementById(held.id);
  const named = (node) => node.getAttribute("aria-label") ?? node.textContent.trim();
  const alike = [...document.querySelectorAll(held.tagName)];
  return alike.find((node) => named(node) === named(held) && !node.disabled);
}
