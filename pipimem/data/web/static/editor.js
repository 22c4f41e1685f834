// Editors of an entry or a whole file: a draft is never lost, and a conflict shows both sides.
import { change, channel, read } from "./requests.js";
import { show } from "./lines.js";
import { live, refresh, say, words } from "./live.js";

const open = new Set();
const conflictDialog = document.getElementById("conflict");

const isChanged = (editor) => editor.area.value !== editor.base;

// Whether an editor, or a dialog with a field, has text that is not saved.
export function isUnsaved() {
  return conflictDialog?.open || [...open].some(isChanged) || document.querySelector("dialog[open] textarea")?.value;
}

export const hasEditors = () => open.size > 0;

window.addEventListener("beforeunload", (event) => {
  if (isUnsaved()) event.preventDefault();
});

// A draft that was not saved survives the tab's reload, and goes with the tab. It is kept with the
// text that it was made of and that one's mark: who reads it later does not save it over newer text.
const draftName = (name) => `draft ${channel} ${live().dataset.file} ${name}`;
const draftOf = (name) => JSON.parse(sessionStorage.getItem(draftName(name)) ?? "null");

export function keep(name, value) {
  try {
    sessionStorage.setItem(name, JSON.stringify(value));
  } catch {
    // It is too long to be kept over a reload; it stays in its field.
  }
}

function editorIn(place, { name, base, etag, save }) {
  const parts = document.getElementById("editor").content.cloneNode(true).firstElementChild;
  const area = parts.querySelector("textarea");
  const draft = draftOf(name) ?? { text: base, base, etag };
  const editor = { parts, area, base: draft.base, etag: draft.etag };
  parts.querySelector("[data-label]").textContent = words.edit;
  area.value = draft.text;
  if (draft.text !== draft.base) say(words.draft);
  area.rows = Math.min(30, Math.max(3, area.value.split("\n").length + 1));
  area.addEventListener("input", () => keep(draftName(name), { ...draft, text: area.value }));

  editor.close = () => {
    sessionStorage.removeItem(draftName(name));
    open.delete(editor);
    parts.remove();
    place.hidden = false;
    place.closest("[tabindex]")?.focus();
    refresh();
  };
  editor.save = async () => {
    const button = parts.querySelector("[data-save]");
    button.disabled = true;
    await save(editor);
    button.disabled = false;
  };
  parts.querySelector("[data-save]").addEventListener("click", editor.save);
  // What was typed goes only where its writer says so.
  const cancel = () => { if (!isChanged(editor) || window.confirm(words.dropIt)) editor.close(); };
  parts.querySelector("[data-cancel]").addEventListener("click", cancel);
  parts.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) editor.save();
    if (event.key === "Escape" && !event.isComposing) cancel();
    event.stopPropagation();
  });
  open.add(editor);
  place.before(parts);
  place.hidden = true;
  area.focus();
}

// Drafts of entries that were reworded, moved or taken out since: their text is shown, not lost.
export function showLeftDrafts() {
  const box = document.getElementById("left-drafts");
  if (!box) return;
  const beginning = draftName("");
  const names = Object.keys(sessionStorage).filter((name) => name.startsWith(beginning) && name !== beginning);
  for (const name of names) {
    const id = CSS.escape(name.slice(beginning.length));
    if (!document.querySelector(`[data-entry="${id}"]`)) box.append(leftDraft(box, name));
  }
  box.hidden = box.querySelector("div") === null;
}

function leftDraft(box, name) {
  const parts = box.querySelector("template").content.cloneNode(true).firstElementChild;
  parts.querySelector("pre").textContent = JSON.parse(sessionStorage.getItem(name)).text;
  parts.querySelector("[data-drop-draft]").addEventListener("click", () => {
    sessionStorage.removeItem(name);
    parts.remove();
    box.hidden = box.querySelector("div") === null;
  });
  return parts;
}

function problem(parts, text) {
  const element = parts.querySelector("[data-problem]");
  element.textContent = text;
  element.hidden = !text;
}

// Shows what became of a save; whether it is done.
export function settled(answer, parts, done) {
  if (answer.status === 200) {
    say(answer.hides ? words.hides : done);
    return true;
  }
  problem(parts, answer.status === 0 ? words.failed : answer.problem ?? words.failed);
  return false;
}

export function editEntry(entry) {
  const { entry: id, section, source, words: base } = entry.dataset;
  const file = live().dataset.file;
  const place = entry.querySelector(".words");
  if (place.hidden) return;
  editorIn(place, {
    name: id,
    base,
    save: async (editor) => {
      const draft = editor.area.value;
      const answer = await change("PUT", "/channel/entry", { file }, id, { section, source, draft });
      if (answer.status === 412) conflict(answer, editor, base, draft);
      else if (settled(answer, editor.parts, words.saved)) editor.close();
    },
  });
}

export async function editFile() {
  const file = live().dataset.file;
  const found = await read("/channel/source", { file });
  if (found.status !== 200) { say(found.problem ?? words.failed); return; }
  editorIn(live(), {
    name: "",
    base: found.text,
    etag: found.etag,
    save: async (editor) => {
      const { area: { value: draft }, base, etag } = editor;
      const answer = await change("PUT", "/channel/file", { file }, etag, { draft, base });
      if (answer.status === 412) conflict(answer, editor, base, draft);
      else if (settled(answer, editor.parts, words.saved)) editor.close();
    },
  });
}

const trimmed = (text) => (text ?? "").replace(/\n$/, "");

// Both sides and the merge; only what a person saves from here is written.
export function conflict(found, editor, base, draft) {
  const dialog = conflictDialog;
  const merged = dialog.querySelector("[data-merged]");
  // Of a whole file its text as it was, of an entry its words.
  const whole = editor?.etag !== undefined;
  show(dialog.querySelector("[data-theirs]"), trimmed(base), trimmed(whole ? found.current : found.theirs));
  show(dialog.querySelector("[data-yours]"), trimmed(base), trimmed(draft ?? base));
  dialog.querySelector("[data-clash]").hidden = found.clashing.length === 0;
  merged.value = found.merged;
  problem(dialog, "");
  dialog.querySelector("[data-save]").onclick = async () => {
    const body = { draft: merged.value, base: found.current };
    const answer = await change("PUT", "/channel/file", { file: found.file }, found.etag, body);
    if (answer.status === 412) { conflict(answer, { etag: found.etag }, found.current, merged.value); return; }
    if (settled(answer, dialog, words.saved)) { dialog.close(); editor?.close?.(); refresh(); }
  };
  const back = () => { if (merged.value === found.merged || window.confirm(words.dropIt)) dialog.close(); };
  dialog.querySelector("[data-back]").onclick = back;
  dialog.oncancel = (event) => { event.preventDefault(); back(); };
  if (!dialog.open) dialog.showModal();
}
