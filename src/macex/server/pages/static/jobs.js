// The progress of a job, asked for until it ends; and what takes a while to work out, asked for
// when it is seen.

import { load, refresh } from "./parts.js";

const PATIENCE = 400; // ms between two questions
const begun = new WeakSet();
let asking = 0;

const watcher = new IntersectionObserver((seen) => {
  for (const { isIntersecting, target } of seen) {
    if (!isIntersecting || begun.has(target)) continue;
    begun.add(target);
    watcher.unobserve(target);
    load(target.dataset.load || target.id);
  }
});

export function follow() {
  clearTimeout(asking);
  if (document.querySelector("#job[data-running]")) {
    asking = setTimeout(() => refresh(["job"]).then(follow), PATIENCE);
  }
  for (const place of document.querySelectorAll("[data-load]")) {
    if (!begun.has(place)) watcher.observe(place);
  }
}
