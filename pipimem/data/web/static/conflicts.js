// The page of contradictions: one of two entries is kept, or both.
import { change } from "./requests.js";

const buttons = document.querySelectorAll("[data-settle]");
for (const button of buttons) {
  button.addEventListener("click", async () => {
    for (const each of buttons) each.disabled = true;
    const { settle, other } = button.dataset;
    const both = "both" in button.dataset;
    const answer = await change("POST", "/conflicts", {}, settle, { keep: settle, other, both });
    if (answer.status === 200) {
      location.reload();
      return;
    }
    const problem = document.getElementById("settle-problem");
    problem.textContent = answer.status === 0 ? problem.dataset.failed : answer.problem;
    problem.hidden = false;
    for (const each of buttons) each.disabled = false;
  });
}
