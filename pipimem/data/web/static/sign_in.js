// Exchanges the token of the address for a cookie; the token leaves the address at once.
const field = document.getElementById("token");
const problem = document.getElementById("problem");
const next = document.getElementById("sign-in").dataset.next;

async function enter(token) {
  const answer = await fetch("/sign-in", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ token }),
  });
  if (answer.ok) location.replace(next);
  else problem.hidden = false;
}

const shown = new URLSearchParams(location.hash.slice(1)).get("token");
if (shown) {
  history.replaceState(null, "", location.pathname + location.search);
  await enter(shown);
} else if ((await fetch("/sign-in/status")).ok) {
  location.replace(next);
}
document.getElementById("enter").addEventListener("click", () => enter(field.value.trim()));
field.addEventListener("keydown", (event) => {
  if (event.key === "Enter") enter(field.value.trim());
});
