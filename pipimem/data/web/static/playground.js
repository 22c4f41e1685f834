// Keeps a question in recall.must: only ever by a person's click.
import { change } from "./requests.js";

const form = document.querySelector("form[data-keep]");

form?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const problem = form.parentElement.querySelector("[data-problem]");
  const words = new FormData(form).get("words") ?? "";
  const body = { text: form.dataset.question, words: words.replaceAll("，", ",") };
  const answer = await change("POST", "/playground/question", {}, "*", body);
  problem.hidden = answer.status === 200;
  problem.textContent = answer.problem ?? (answer.status ? "" : form.dataset.failed);
  if (answer.status === 200) document.getElementById("status").textContent = answer.added ? form.dataset.kept : form.dataset.known;
});
