// What changed between two texts, line by line: a longest common subsequence between shared ends.
const MOST = 4_000_000;

export function diff(before, after) {
  const a = lines(before);
  const b = lines(after);
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head += 1;
  let tail = 0;
  while (
    tail < a.length - head && tail < b.length - head &&
    a[a.length - 1 - tail] === b[b.length - 1 - tail]
  ) tail += 1;
  return between(a.slice(head, a.length - tail), b.slice(head, b.length - tail));
}

// No text has no line; an empty one would be shown as an empty line.
const lines = (text) => (text === "" ? [] : text.split("\n"));

function between(a, b) {
  if (a.length * b.length > MOST) return [...a.map((line) => ["del", line]), ...b.map((line) => ["ins", line])];
  const width = b.length + 1;
  const best = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      best[i * width + j] = a[i] === b[j]
        ? best[(i + 1) * width + j + 1] + 1
        : Math.max(best[(i + 1) * width + j], best[i * width + j + 1]);
    }
  }
  const found = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) { i += 1; j += 1; }
    else if (j >= b.length || (i < a.length && best[(i + 1) * width + j] >= best[i * width + j + 1])) { found.push(["del", a[i]]); i += 1; }
    else { found.push(["ins", b[j]]); j += 1; }
  }
  return found;
}

const UNSEEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;

// A text in which signs that turn what follows, or that nobody sees, stand as their numbers.
export function visible(text) {
  return text.replace(UNSEEN, (sign) => `U+${sign.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`);
}

// Fills an element with the changed lines; text only, never HTML.
export function show(element, before, after) {
  element.replaceChildren(...diff(before, after).map(([kind, line]) => {
    const shown = document.createElement(kind);
    shown.textContent = visible(`${kind === "ins" ? "+" : "−"} ${line}`);
    return shown;
  }));
}
