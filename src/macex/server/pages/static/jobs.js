// The progress of a job, asked for until it ends.

import { refresh } from "./parts.js";

const PATIENCE = 400; // ms between two questions
let asking = 0;

export function follow() {
  clearTimeout(asking);
  if (document.querySelector("#job[data-running]")) {
    asking = setTimeout(() => refresh(["job"]).then(follow), PATIENCE);
  }
}
