// The progress of a job, asked for until it ends; then what takes a while to work out.

import { refresh } from "./parts.js";

const PATIENCE = 400; // ms between two questions
let asking = 0;

export function follow() {
  clearTimeout(asking);
  if (document.querySelector("#job[data-running]")) {
    asking = setTimeout(() => refresh(["job"]).then(follow), PATIENCE);
  } else if (document.querySelector("#plan[data-load]")) {
    refresh(["plan"]);
  }
}
