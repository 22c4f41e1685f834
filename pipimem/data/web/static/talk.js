// A long transcript: the page before is put above this one when its link comes into view.
const box = document.getElementById("transcript");

async function join(link, place) {
  const answer = await fetch(link.href, { headers: { Accept: "text/html" } });
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const list = box.querySelector("ol.talk");
  const fresh = [...page.querySelectorAll("#transcript ol.talk > li")];
  const next = page.querySelector(`[data-${place}]`);
  const height = document.documentElement.scrollHeight;
  list[place === "earlier" ? "prepend" : "append"](...fresh);
  // What was being read stays where it is.
  if (place === "earlier") window.scrollBy(0, document.documentElement.scrollHeight - height);
  if (next) { link.href = next.href; watch(link, place); } else link.remove();
}

function watch(link, place) {
  if (!link) return;
  const seen = new IntersectionObserver((entries) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    seen.disconnect();
    join(link, place);
  });
  seen.observe(link);
}

watch(box.querySelector("[data-later]"), "later");
// Earlier ones only once somebody scrolls: the page begins at the top.
window.addEventListener("scroll", () => watch(box.querySelector("[data-earlier]"), "earlier"), { once: true });
