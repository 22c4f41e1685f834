// The page of a change: taking it back, after a look at what that does. And what was left out, taken in after all.
import { change } from "./requests.js";

for (const item of document.querySelectorAll("[data-take-in]")) {
  item.addEventListener("click", async () => {
    item.disabled = true;
    const answer = await change("POST", "/left-out/take", {}, item.dataset.newest, { number: Number(item.dataset.takeIn) });
    if (answer.status === 200) {
      document.getElementById("status").textContent = item.dataset.done;
      item.closest("li").remove();
      return;
    }
    const problem = document.getElementById("undo-problem");
    problem.textContent = answer.status === 0 ? item.dataset.failed : answer.problem;
    problem.hidden = false;
    item.disabled = false;
  });
}

const button = document.querySelector("[data-undo]");
button?.addEventListener("click", async () => {
  button.disabled = true;
  const answer = await change("POST", "/change/undo", {}, button.dataset.newest, { number: Number(button.dataset.undo) });
  if (answer.status === 200) {
    document.getElementById("status").textContent = button.dataset.done;
    const query = new URLSearchParams(location.search);
    query.set("number", answer.number);
    location.assign(`/change?${query}`);
    return;
  }
  const problem = document.getElementById("undo-problem");
  problem.textContent = answer.status === 0 ? button.dataset.failed : answer.problem;
  problem.hidden = false;
  button.disabled = false;
});
