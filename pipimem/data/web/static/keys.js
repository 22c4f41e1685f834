// The keyboard: / j k e p Enter ?
const isTyping = (element) => /^(INPUT|TEXTAREA|SELECT)$/.test(element?.tagName ?? "");

const entries = () => [...document.querySelectorAll("[data-entry], [data-row]")];

function step(by) {
  const all = entries();
  if (!all.length) return;
  const at = all.indexOf(document.activeElement?.closest("[data-entry], [data-row]"));
  const next = all[Math.min(all.length - 1, Math.max(0, at < 0 ? 0 : at + by))];
  next.focus();
  next.scrollIntoView({ block: "nearest" });
}

function press(name) {
  document.activeElement?.closest("[data-entry]")?.querySelector(`[data-action="${name}"]`)?.click();
}

const actions = {
  "/": () => {
    const field = document.querySelector("[type=search]");
    if (field) field.focus();
    else document.querySelector("[data-search]")?.click();
  },
  j: () => step(1),
  k: () => step(-1),
  e: () => press("edit"),
  p: () => press("pin"),
  "?": () => document.getElementById("help").showModal(),
};

export function listen() {
  document.querySelector("[data-help]")?.addEventListener("click", actions["?"]);
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    if (document.querySelector("dialog[open]")) return;
    if (event.key === "Enter") {
      if (event.target.matches("[data-entry], [data-row]")) event.target.querySelector("a")?.click();
      return;
    }
    const action = actions[event.key];
    if (action) { event.preventDefault(); action(); }
  });
}
