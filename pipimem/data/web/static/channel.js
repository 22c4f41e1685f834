// The page of a channel: its buttons, and the stream that keeps it up to date.
import { change, channel, read } from "./requests.js";
import { conflict, editEntry, editFile, hasEditors, isUnsaved, keep, settled, showLeftDrafts } from "./editor.js";
import { visible } from "./lines.js";
import { follow, live, refresh, say, words } from "./live.js";

const isReadOnly = "readOnly" in document.body.dataset;
const dialogs = Object.fromEntries(["forget", "kind"].map((name) => [name, document.getElementById(name)]));
const anyDialog = () => document.querySelector("dialog[open]");

follow(() => !hasEditors() && !anyDialog());
showLeftDrafts();
for (const dialog of document.querySelectorAll("dialog")) {
  // What was written while it was open is shown now.
  dialog.addEventListener("close", () => { if (!document.getElementById("stale").hidden) refresh(); });
}

const placeOf = (entry) => ({ section: entry.dataset.section, source: entry.dataset.source });
const file = () => live().dataset.file;

function failed(answer) {
  say(answer.status === 0 ? words.failed : answer.problem ?? words.failed);
}

async function action(entry, method, path, body, done) {
  const answer = await change(method, path, { file: file() }, entry.dataset.entry, { ...placeOf(entry), ...body });
  if (answer.status === 412) conflict(answer, undefined, entry.dataset.words);
  else if (answer.status === 200) { say(answer.hides ? words.hides : done); await refresh(); }
  else failed(answer);
  return answer.status === 200;
}

function remove(entry) {
  if (window.confirm(words.removing)) action(entry, "DELETE", "/channel/entry", {}, words.removed);
}

function pin(entry) {
  action(entry, "POST", "/channel/pin", { pinned: entry.dataset.pinned !== "true" }, words.saved);
}

// ── a dialog with a kind: moving an entry, remembering a text ──

function withKind({ remembers, entry }) {
  const dialog = dialogs.kind;
  const text = dialog.querySelector("[data-text]");
  const draft = `remember ${channel}`;
  text.value = remembers ? JSON.parse(sessionStorage.getItem(draft) ?? '""') : "";
  text.oninput = () => keep(draft, text.value);
  dialog.querySelector("[data-text-field]").hidden = !remembers;
  dialog.querySelector("[data-remember-title]").hidden = !remembers;
  dialog.querySelector("[data-move-title]").hidden = remembers;
  dialog.querySelector("[data-problem]").hidden = true;
  dialog.setAttribute("aria-label", dialog.querySelector(remembers ? "[data-remember-title]" : "[data-move-title]").textContent);
  dialog.removeAttribute("aria-labelledby");
  dialog.querySelector("[data-close]").onclick = () => dialog.close();
  dialog.querySelector("[data-yes]").onclick = async () => {
    const kind = dialog.querySelector("[data-kind]").value;
    if (!remembers) {
      dialog.close();
      await action(entry, "POST", "/channel/move", { kind }, words.moved);
      return;
    }
    const answer = await change("POST", "/channel/remember", {}, "*", { text: text.value, kind });
    if (settled(answer, dialog, answer.added ? words.remembered : words.known)) {
      sessionStorage.removeItem(draft);
      text.value = "";
      dialog.close();
      await refresh();
    }
  };
  dialog.showModal();
}

// ── forgetting: what would go, a yes, the receipt ──

function step(name) {
  for (const each of dialogs.forget.querySelectorAll("[data-step]")) each.hidden = each.dataset.step !== name;
  dialogs.forget.querySelector("[data-problem]").hidden = true;
  dialogs.forget.querySelector(`[data-step="${name}"] input, [data-step="${name}"] [data-close]`)?.focus();
}

function forgetProblem(text) {
  const element = dialogs.forget.querySelector("[data-problem]");
  element.textContent = text;
  element.hidden = false;
}

function items(texts) {
  return texts.map((text) => {
    const item = document.createElement("li");
    item.textContent = visible(text);
    item.dir = "auto";
    return item;
  });
}

async function preview(what) {
  const found = await read("/channel/forget", what);
  if (found.status !== 200) { forgetProblem(found.problem ?? words.failed); return; }
  const all = [...found.entries, ...found.messages, ...found.speakers];
  if (!all.length) { forgetProblem(words.nothing); return; }
  dialogs.forget.querySelector("[data-found]").replaceChildren(...items(all));
  step("confirm");
  dialogs.forget.querySelector("[data-yes]").onclick = async () => {
    const answer = await change("POST", "/channel/forget", { file: file() }, what.entry ?? "*", what);
    if (answer.status !== 200) { forgetProblem(answer.problem ?? words.failed); return; }
    const receipt = dialogs.forget.querySelector("[data-receipt]");
    const removed = Object.entries(answer.removed).filter(([, count]) => count > 0);
    receipt.replaceChildren(...removed.map(([place, count]) => {
      const row = document.createElement("div");
      const term = document.createElement("dt");
      const value = document.createElement("dd");
      term.textContent = receipt.dataset[place] ?? place;
      value.textContent = count;
      row.append(term, value);
      return row;
    }));
    step("receipt");
  };
}

function forget(what) {
  const dialog = dialogs.forget;
  for (const button of dialog.querySelectorAll("[data-close]")) {
    button.onclick = () => { dialog.close(); refresh(); };
  }
  dialog.showModal();
  if (what.entry) { preview(what); return; }
  step("ask");
  const text = dialog.querySelector("[data-text]");
  text.value = "";
  dialog.querySelector("[data-look]").onclick = () => preview({ text: text.value });
}

// ── buttons ──

const actions = {
  edit: editEntry,
  pin,
  move: (entry) => withKind({ remembers: false, entry }),
  remove,
  forget: (entry) => forget({ entry: entry.dataset.entry }),
};

if (!isReadOnly) {
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    if (button.dataset.action) actions[button.dataset.action](button.closest("[data-entry]"));
    else if ("editFile" in button.dataset && !hasEditors()) editFile();
    else if ("remember" in button.dataset) withKind({ remembers: true });
    else if ("forgetText" in button.dataset) forget({});
    else if ("reload" in button.dataset && (!isUnsaved() || window.confirm(words.leave))) location.reload();
  });
}
