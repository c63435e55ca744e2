// Parts of a page, fetched from the page's own address.

let latest = null;

export async function refresh(parts) {
  latest?.abort();
  latest = new AbortController();
  const places = parts.map((part) => document.getElementById(part));
  for (const place of places) place?.setAttribute("aria-busy", "true");
  try {
    const headers = { "X-Macex-Parts": parts.join(" ") };
    const answer = await fetch(location.href, { headers, signal: latest.signal });
    if (answer.redirected) location.reload(); // the session is over
    put(new DOMParser().parseFromString(await answer.text(), "text/html"), parts, answer.ok);
  } catch (error) {
    if (error.name !== "AbortError") say("The server does not answer.");
  }
}

// The page of an address as a whole, in the place of this one.
export async function show(href) {
  const answer = await fetch(href);
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  document.title = page.title;
  document.querySelector("main").replaceWith(page.querySelector("main"));
}

export function say(text) {
  document.getElementById("notice").textContent = text;
  setTimeout(() => say(""), 4000 * Boolean(text));
}

function put(page, parts, fine) {
  for (const part of parts) {
    const made = page.getElementById(part);
    const place = document.getElementById(part);
    if (made && place) fill(place, made);
    else if (!fine) say("The server could not answer that.");
  }
}

// A live region is kept and its content replaced, or it would not be read aloud.
function fill(place, made) {
  if (place.getAttribute("aria-live")) {
    place.replaceChildren(...made.childNodes);
    place.removeAttribute("aria-busy");
  } else {
    place.replaceWith(made);
  }
}
