// The operator's page. Whatever the server says is put in as text, never as markup.

const interval = 3000;
const numbers = new Intl.NumberFormat();
const $ = (id) => document.getElementById(id);

// MARK: Making elements

/** An element with attributes (`on…` are listeners, nothing stands for a missing one) and children, texts or elements. */
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

const mono = (text) => make("span", { class: "mono" }, text);
const sub = (...children) => make("span", { class: "sub" }, ...children);
const empty = (text) => make("p", { class: "empty" }, text);
const word = (state) => make("span", { class: "word", "data-state": state }, state);
/** To the answer about an at-uri or a DID; lines may end after its slashes. */
const link = (query) => make("a", { class: "mono", href: "#" + encodeURIComponent(query) },
  ...query.split(/(?<=[^/]\/)(?=[^/])/).flatMap((part, index) => index > 0 ? [make("wbr"), part] : [part]));

function when(iso) {
  if (!iso) return null;
  return make("time", { datetime: iso, title: iso }, ago(iso));
}

function ago(iso) {
  const seconds = (Date.now() - Date.parse(iso)) / 1000;
  if (!Number.isFinite(seconds)) return iso;
  const [text, tense] = [span(Math.abs(seconds)), seconds < 0 ? "in " : ""];
  return Math.abs(seconds) < 2 ? "now" : tense ? tense + text : text + " ago";
}

/** Seconds for people: `42 s`, `3 min`, `5 h`, `2 d`. */
function span(seconds) {
  const units = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];
  const [size, name] = units.find(([size]) => seconds >= size) ?? [1, "s"];
  return `${numbers.format(Math.floor(seconds / size))} ${name}`;
}

/** Milliseconds for people: `0.4 ms`, `12 ms`, `3.1 s`. */
function duration(milliseconds) {
  if (milliseconds >= 1000) return `${(milliseconds / 1000).toFixed(1)} s`;
  return `${milliseconds >= 10 ? Math.round(milliseconds) : milliseconds.toFixed(1)} ms`;
}

/** Columns are `[heading, cell of a row, class]`. Where it gets narrow each row becomes a card, but for a `slim` table's. */
function table(labelledBy, columns, rows, kind = "cards") {
  const head = columns.map(([heading, , kind]) =>
    make("th", { scope: "col", role: "columnheader", class: kind }, heading));
  const body = rows.map((row) => make("tr", { role: "row" }, ...columns.map(([heading, cell, kind]) => {
    const content = cell(row);
    return make("td", { role: "cell", class: kind, "data-label": heading },
      content === null || content === undefined || content === "" ? null : make("div", {}, ...[content].flat()));
  })));
  return make("table", { class: kind, role: "table", "aria-labelledby": labelledBy },
    make("thead", { role: "rowgroup" }, make("tr", { role: "row" }, ...head)),
    make("tbody", { role: "rowgroup" }, ...body));
}

function tiles(list, entries) {
  show(list, entries, () => entries.map(([name, value, isBad]) =>
    make("div", { class: isBad ? "bad" : null }, make("dt", {}, name), make("dd", {}, value))));
}

function facts(list, entries) {
  const known = entries.filter(([, value]) => value !== null);
  list.replaceChildren(...known.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, ...[value].flat())]));
}

/** Fills `place` anew when `data` has changed; what had the focus keeps it, or `fallback` gets it. */
function show(place, data, children, fallback) {
  const text = JSON.stringify(data);
  if (place.shown === text) return;
  place.shown = text;
  const focused = place.contains(document.activeElement) ? document.activeElement : null;
  place.replaceChildren(...children());
  if (!focused) return;
  const key = focused.dataset.key ?? focused.getAttribute("href");
  const again = [...place.querySelectorAll("a, button")].find((e) => (e.dataset.key ?? e.getAttribute("href")) === key);
  (again ?? fallback)?.focus();
}

// MARK: Asking the server

async function ask(call, body) {
  const options = body === undefined ? {} : {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
  };
  const response = await fetch("/_admin/api/" + call, { ...options, cache: "no-store", redirect: "error" });
  if (response.status === 401) location.reload();
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.message ?? `status ${response.status}`);
  return answer;
}

function say(text) {
  const status = $("status");
  status.textContent = text;
  clearTimeout(say.timer);
  say.timer = setTimeout(() => { status.textContent = ""; }, 8000);
}

// MARK: The live part

let older = [];

async function refresh() {
  clearTimeout(refresh.timer);
  try {
    render(await ask("overview"));
    pulse("live", "Live");
  } catch (error) {
    pulse("lost", `Not up to date: ${error.message}`);
  }
  if (!document.hidden) refresh.timer = setTimeout(refresh, interval);
}

function pulse(state, text) {
  $("pulse").dataset.state = state;
  if ($("pulse-text").textContent !== text) $("pulse-text").textContent = text;
}

function render(view) {
  $("identity").textContent = `${view.did} · version ${view.version}`;
  document.title = view.queue.dead ? `(${view.queue.dead}) Hark` : "Hark";
  $("push-off").hidden = view.push;
  renderCounters(view);
  renderSource(view);
  renderQueue(view);
  renderHooks(view.hooks);
  for (const time of document.querySelectorAll("time")) {
    const text = ago(time.dateTime);
    if (time.textContent !== text) time.textContent = text;
  }
}

function renderCounters({ counts, skipped, hooks, sends, outcomes, connections }) {
  const sum = (list, condition = () => true) =>
    list.filter(condition).reduce((total, { count }) => total + count, 0);
  const runs = hooks.reduce((total, hook) => total + hook.runs, 0);
  const errors = hooks.reduce((total, hook) => total + hook.errors, 0);
  const ended = (...names) => sum(outcomes, ({ outcome }) => names.includes(outcome));
  const format = (number) => numbers.format(number);
  tiles($("counters"), [
    ["events", format(counts.events)], ["ops", format(counts.ops)],
    ["created", format(counts.created)], ["updated", format(counts.updated)], ["deleted", format(counts.deleted)],
    ["skipped", format(sum(skipped))],
    ["hook runs", format(runs)], ["hook errors", format(errors), errors > 0],
    ["queued", format(sum(sends, ({ result }) => result === "queued"))],
    ["sent", format(ended("sent"))], ["dead", format(ended("dead")), ended("dead") > 0],
    ["expired", format(ended("expired"))], ["removed", format(ended("removed"))],
    ["connections", format(connections.reduce((total, channel) => total + channel.connections, 0))],
  ]);
  show($("skipped"), skipped, () => [skipped.length === 0 ? empty("Nothing was skipped.") : table("skipped-title", [
    ["reason", (row) => mono(row.reason)], ["count", (row) => format(row.count), "number"],
  ], skipped, "slim")]);
  const ends = [
    ...sends.map(({ result, reason, count }) => ({ outcome: result, reason, count })), ...outcomes,
  ];
  show($("outcomes"), ends, () => [ends.length === 0 ? empty("No push yet.") : table("outcomes-title", [
    ["outcome", (row) => word(row.outcome)], ["reason", (row) => row.reason],
    ["channel", (row) => row.channel], ["count", (row) => format(row.count), "number"],
  ], ends, "slim")]);
}

function renderSource({ source, started }) {
  facts($("source"), [
    ["source", source.name ? mono(source.name) : "nothing has been read yet"],
    ["read up to", source.cursor === null ? null : [numbers.format(source.cursor), ", ", when(source.updatedAt)]],
    ["behind by", source.lag !== null ? span(source.lag) : source.name ? "unknown: no live source is followed" : null],
    ["started", when(started)],
  ]);
}

function renderQueue({ queue, dead, waiting }) {
  tiles($("queue"), [
    ["due", numbers.format(queue.due)], ["retry later", numbers.format(queue.retry)],
    ["being sent", numbers.format(queue.running)], ["dead", numbers.format(queue.dead), queue.dead > 0],
    ["longest due", queue.due > 0 ? span(queue.oldest) : "–"],
  ]);
  const last = dead.at(-1)?.id ?? 0;
  const rows = [...dead, ...older.filter((row) => row.id < last)];
  $("dead-actions").hidden = rows.length === 0;
  $("dead-more").hidden = rows.length === 0 || rows.length >= queue.dead;
  show($("dead"), rows, () => [rows.length === 0
    ? empty("None. Every push was delivered, has ended on its own, or is still being tried.")
    : table("dead-title", [
      ["to", (row) => [link(row.did), sub(device(row))]],
      ["why", (row) => [row.reason ?? "unknown", sub(`after ${attempts(row)}`)]],
      ["record", (row) => [link(row.uri), sub(`hook ${row.hook}`)]],
      ["since", (row) => when(row.failedAt), "tight"],
      ["", actions, "actions-cell"],
    ], rows)], $("dead-title"));
  show($("waiting"), waiting, () => [waiting.length === 0 ? empty("Nothing waits.") : table("waiting-title", [
    ["to", (row) => [link(row.did), sub(device(row))]],
    ["record", (row) => [link(row.uri), sub(`hook ${row.hook}`)]],
    ["next attempt", (row) => when(row.nextAttemptAt), "tight"],
    ["so far", (row) => row.attempts || row.reason ? [attempts(row), sub(row.reason ?? "")] : "not tried yet"],
  ], waiting)]);
}

const device = (row) =>
  row.suffix ? `device …${row.suffix}${row.environment ? `, ${row.environment}` : ""}` : "its device is gone";
const attempts = ({ attempts }) => attempts === 1 ? "1 attempt" : `${attempts} attempts`;

function actions(row) {
  const button = (name, text, kind, run) => make("button", {
    type: "button", class: kind, "data-key": `${name} ${row.id}`, "aria-label": `${text} push ${row.id}`, onclick: run,
  }, text);
  return make("div", { class: "actions" },
    row.suffix ? button("retry", "Retry", null, () => act("retry", { ids: [row.id] })) : null,
    button("drop", "Drop", "danger", () => act("drop", { ids: [row.id] }, `Drop push ${row.id} for good?`)));
}

/** Does something to dead letters, and says what came of it. */
async function act(call, selection, question) {
  if (question && !confirm(question)) return;
  try {
    const { done, refused } = await ask(call, selection);
    const count = done === 1 ? "1 push" : `${numbers.format(done)} pushes`;
    const words = call === "retry" ? "due again" : "dropped";
    say(refused.length > 0 ? `Push ${refused[0].id}: ${refused[0].reason}.` : `${count} ${words}.`);
    older = selection.all ? [] : older.filter((row) => !selection.ids.includes(row.id));
    await refresh();
  } catch (error) {
    say(`That did not work: ${error.message}.`);
  }
}

function renderHooks(hooks) {
  show($("hooks"), hooks, () => [hooks.length === 0 ? empty("This Hark has no hooks.") : table("hooks-title", [
    ["hook", (row) => [mono(row.name), sub(row.collections.join(", ") || "all collections")]],
    ["runs", (row) => numbers.format(row.runs), "number"],
    ["errors", (row) => numbers.format(row.errors), "number"],
    ["mean", (row) => row.runs ? duration(row.meanMilliseconds) : "–", "number"],
    ["longest", (row) => row.runs ? duration(row.longestMilliseconds) : "–", "number"],
    ["last error", (row) => row.lastError
      ? [row.lastError.error, sub(when(row.lastError.at), " on ", link(row.lastError.uri))] : "none"],
  ], hooks)]);
}

// MARK: Looking up

async function lookUp(query) {
  const answer = $("answer");
  if (!query) return answer.replaceChildren();
  answer.setAttribute("aria-busy", "true");
  try {
    const isAccount = query.startsWith("did:") && !query.includes("/");
    const children = isAccount ? await account(query) : explanation(await ask(`explain?uri=${encodeURIComponent(query)}`));
    answer.replaceChildren(...children);
  } catch (error) {
    answer.replaceChildren(make("p", { class: "problem" }, `${error.message}.`));
  } finally {
    answer.removeAttribute("aria-busy");
  }
}

async function account(did) {
  const { devices } = await ask(`devices?did=${encodeURIComponent(did)}`);
  const own = devices.filter((device) => device.did === did);
  const title = make("h3", { id: "answer-title" }, "Devices of ", mono(did));
  return [title, own.length === 0 ? empty("No device is registered: pushes to this account reach nobody.")
    : deviceTable("answer-title", own)];
}

function explanation({ uri, collection, text, hooks, push }) {
  const parts = [make("h3", {}, mono(uri)), make("p", {}, `The record is ${text}.`)];
  if (!push) parts.push(make("p", { class: "problem" }, "Push is off: the configuration has no push section."));
  if (hooks.length === 0) parts.push(empty(`No hook wants ${collection}.`));
  for (const hook of hooks) {
    parts.push(make("h3", {}, "Hook ", mono(hook.name)), make("p", {}, `${hook.summary}.`));
    const pushes = hook.pushes.map((row) =>
      make("li", {}, link(row.did), sub(word(row.state), ` · push ${row.id} · ${device(row)} · ${row.fate}`)));
    const notes = hook.notes.map((note) => make("li", {},
      note.did ? link(note.did) : "The hook itself", sub(note.meaning, ", ", when(note.at))));
    if (pushes.length + notes.length > 0) parts.push(make("ul", {}, ...pushes, ...notes));
  }
  return parts;
}

/** What Apple last found wrong with a token that stays. */
function fault({ failure, failedAt }) {
  return failure ? sub(make("span", { class: "problem" }, failure), " ", when(failedAt)) : null;
}

function deviceTable(labelledBy, devices) {
  return table(labelledBy, [
    ["account", (row) => link(row.did)],
    ["device", (row) => [mono(`…${row.tokenSuffix}`), row.label ? sub(row.label) : null, fault(row)].filter(Boolean)],
    ["platform", (row) => [`${row.platform}, ${row.environment}`, row.topic ? sub(row.topic) : null].filter(Boolean)],
    ["registered", (row) => when(row.createdAt), "tight"],
    ["last seen", (row) => when(row.lastSeenAt), "tight"],
    ["id", (row) => String(row.id), "number"],
  ], devices);
}

let listed = [];

async function listDevices(isMore) {
  const did = $("did").value.trim();
  const after = isMore && listDevices.next ? `&after=${encodeURIComponent(listDevices.next)}` : "";
  try {
    const answer = await ask(`devices?did=${encodeURIComponent(did)}${after}`);
    listed = isMore ? [...listed, ...answer.devices] : answer.devices;
    listDevices.next = answer.next;
    const plural = (count, noun) => `${numbers.format(count)} ${noun}${count === 1 ? "" : "s"}`;
    $("device-count").textContent =
      `${plural(answer.total.devices, "device")} of ${plural(answer.total.accounts, "account")} registered.`;
    $("devices-more").hidden = answer.next === null;
    show($("devices"), listed, () => [listed.length === 0
      ? empty(did ? "No account’s DID begins so." : "No device is registered yet.")
      : deviceTable("devices-title", listed)]);
  } catch (error) {
    say(`The devices cannot be shown: ${error.message}.`);
  }
}

async function showOlder() {
  try {
    const last = [...$("dead").querySelectorAll("[data-key^='drop ']")].at(-1)?.dataset.key.slice(5) ?? "";
    older = [...older, ...(await ask(`dead?before=${last}`)).pushes];
    await refresh();
  } catch (error) {
    say(`Older ones cannot be shown: ${error.message}.`);
  }
}

// MARK: Beginning

function fromAddress() {
  let query = location.hash.slice(1);
  try { query = decodeURIComponent(query); } catch { /* typed by hand */ }
  if (query === "main") return;
  $("query").value = query;
  lookUp(query);
  if (query) $("search-title").scrollIntoView({ block: "start" });
}

$("search").addEventListener("submit", (event) => {
  event.preventDefault();
  const query = $("query").value.trim();
  const hash = query ? "#" + encodeURIComponent(query) : "";
  // The same question again gets a new answer.
  if (location.hash === hash) lookUp(query);
  else location.hash = hash;
});
$("device-search").addEventListener("submit", (event) => { event.preventDefault(); listDevices(false); });
$("devices-more").addEventListener("click", () => listDevices(true));
$("dead-more").addEventListener("click", showOlder);
$("retry-all").addEventListener("click", () => act("retry", { all: true }));
$("drop-all").addEventListener("click", () => act("drop", { all: true }, "Drop all dead letters for good?"));
document.addEventListener("visibilitychange", () => { if (!document.hidden) refresh(); });
addEventListener("hashchange", fromAddress);

fromAddress();
refresh();
listDevices(false);
