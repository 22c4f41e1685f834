// What every page does; the page of a channel has its editors besides.
import { listen } from "./keys.js";

if (document.querySelector("[data-file]")) await import("./channel.js");
if (document.querySelector("[data-undo], [data-take-in]")) await import("./change.js");
if (document.getElementById("settle-problem")) await import("./conflicts.js");
if (document.getElementById("transcript")) await import("./talk.js");
if (document.querySelector("form[data-keep]")) await import("./playground.js");
// Only now: before, a key or a button would do nothing.
listen();
document.documentElement.classList.add("scripts");
if (document.querySelector("[data-waits]")) await import("./channels.js");
