// The list of channels: what was not known yet is asked for again until it is.
import { live, refresh } from "./live.js";

const LONGEST = 40;
const PAUSE = 250;
for (let round = 0; round < LONGEST && "waits" in live().dataset; round += 1) {
  await new Promise((done) => { setTimeout(done, PAUSE); });
  await refresh();
}
