// What every page does; the page of a channel has its editors besides.
import { listen } from "./keys.js";

document.documentElement.classList.add("scripts");
listen();
if (document.getElementById("live")) await import("./channel.js");
