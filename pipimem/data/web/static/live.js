// Keeps an open page up to date: a save by anybody is shown at once, but never over unsaved text.
import { address } from "./requests.js";

export const live = () => document.getElementById("live");
export const words = document.getElementById("words")?.dataset ?? {};

let timer;
export function say(text) {
  const status = document.getElementById("status");
  status.textContent = text;
  clearTimeout(timer);
  timer = setTimeout(() => { status.textContent = ""; }, 6000);
}

let mayReplace = () => true;
let running = false;
let again = false;

// Fetches the page and puts its entries in the place of these, unless somebody is typing there.
export async function refresh({ force = false } = {}) {
  if (!force && !mayReplace()) {
    document.getElementById("stale").hidden = false;
    return;
  }
  if (running) { again = true; return; }
  running = true;
  try {
    const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
    if (!answer.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const fresh = page.getElementById("live");
    if (fresh && (force || mayReplace())) {
      const chosen = document.activeElement?.dataset?.entry;
      live().replaceWith(fresh);
      document.getElementById("stale").hidden = true;
      if (chosen) fresh.querySelector(`[data-entry="${CSS.escape(chosen)}"]`)?.focus({ preventScroll: true });
      fresh.dispatchEvent(new CustomEvent("fresh", { bubbles: true }));
    }
  } catch {
    // The server stopped: the page stays as it is, and the stream says when it is back.
  } finally {
    running = false;
  }
  if (again) { again = false; await refresh(); }
}

export function follow(guard) {
  mayReplace = guard;
  const events = new EventSource(address("/events"));
  // The page may be older than the stream: it says which state it shows.
  let known = live()?.dataset.stamp;
  const onChange = (event) => {
    if (known !== undefined && known !== event.data) refresh();
    known = event.data;
  };
  events.addEventListener("hello", onChange);
  events.addEventListener("changed", onChange);
  window.addEventListener("pagehide", () => events.close());
}
