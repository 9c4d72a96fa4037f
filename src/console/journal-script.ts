/** The part of the console that shows requests as they come. */
export const JOURNAL_SCRIPT = `import { byId, call, element, get, pathOf, shortTime } from "./client.js";

const MAX_ENTRIES = 50;
const PAUSE_MS = 3000;
const table = byId("journal");
let newest = 0;
let paused = false;
let stream;

// An entry is a row group of its own, so that what it holds can open below it in the table's whole width.
function entryGroup(entry) {
  const failed = entry.status === 0 || entry.status >= 400;
  const group = element("tbody", { attributes: failed ? { class: "failed" } : {} });
  const row = group.insertRow();
  const query = entry.request.query ? "?" + entry.request.query : "";
  const opener = element("button", {
    text: entry.method + " " + entry.path + query,
    attributes: { type: "button", class: "opener", "aria-expanded": "false" },
    on: { click: () => toggle(group, opener, entry) },
  });
  const answer = (entry.status === 0 ? "no answer" : entry.status) + (entry.code ? " " + entry.code : "");
  row.insertCell().textContent = shortTime(entry.at);
  row.insertCell().append(opener);
  for (const text of [answer, entry.decision, entry.principal ?? "nobody", entry.duration_ms]) row.insertCell().textContent = text;
  row.cells[2].className = "answer";
  row.cells[5].className = "number";
  return group;
}

function toggle(group, opener, entry) {
  const open = group.rows.length > 1;
  opener.setAttribute("aria-expanded", String(!open));
  if (open) return group.deleteRow(1);
  const cell = group.insertRow().insertCell();
  cell.colSpan = 6;
  cell.append(element("pre", { text: entryText(entry), attributes: { tabindex: "0" } }));
}

function entryText({ operation, reasons, warnings, method, path, status, request, response }) {
  const query = request.query ? "?" + request.query : "";
  return [
    "Operation: " + (operation ?? "none"),
    ...reasons.map((reason) => "Reason: " + reason),
    ...warnings.map((warning) => "Warning: " + warning),
    "", method + " " + path + query, ...messageLines(request),
    "", status === 0 ? "No answer" : String(status), ...messageLines(response),
  ].join("\\n");
}

function messageLines({ headers, body }) {
  const lines = headers.map(({ name, value }) => name + ": " + value);
  if (body === undefined) return lines;
  return [...lines, "", typeof body === "string" ? body : JSON.stringify(body, null, 2)];
}

function showEntries(entries) {
  const fresh = entries.filter((entry) => entry.sequence > newest).slice(-MAX_ENTRIES);
  if (fresh.length > 0) newest = fresh.at(-1).sequence;
  table.tHead.after(...fresh.reverse().map(entryGroup));
  while (table.tBodies.length > MAX_ENTRIES) table.tBodies[MAX_ENTRIES].remove();
  byId("no-journal").hidden = table.tBodies.length > 0;
}

function clearEntries() {
  newest = 0;
  while (table.tBodies.length > 0) table.tBodies[0].remove();
  byId("no-journal").hidden = false;
}

/** Begins with the chosen sandbox's journal, unless the user has stopped it. */
export function showJournal() {
  clearEntries();
  if (!paused) follow();
}

// By fetch and not by EventSource, which could not send the token of a shared server.
async function follow() {
  stream?.abort();
  const mine = new AbortController();
  stream = mine;
  while (!mine.signal.aborted) {
    try {
      const { entries } = await get(pathOf("/journal?limit=" + MAX_ENTRIES));
      if (mine.signal.aborted) return;
      // The server began a new count, after a reset or a start: what is shown is of another world.
      if ((entries[0]?.sequence ?? 0) < newest) clearEntries();
      showEntries(entries.reverse());
      const headers = { "last-event-id": String(newest) };
      const response = await call(pathOf("/journal/stream"), { signal: mine.signal, headers });
      await readEvents(response.body.pipeThrough(new TextDecoderStream()).getReader());
    } catch {
      // The page's other calls say what is wrong.
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}

async function readEvents(reader) {
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const events = (rest + value).split("\\n\\n");
    rest = events.pop();
    const lines = events.flatMap((event) => event.split("\\n")).filter((line) => line.startsWith("data: "));
    showEntries(lines.map((line) => JSON.parse(line.slice(6))));
  }
}

/** Somebody may have cleared it, of which the stream says nothing. */
export async function noticeClearing() {
  if (table.tBodies.length > 0 && (await get(pathOf("/journal?limit=1"))).total === 0) clearEntries();
}

export function togglePause() {
  paused = !paused;
  byId("pause").setAttribute("aria-pressed", String(paused));
  if (paused) stream?.abort();
  else follow();
}

/** A page that nobody sees must not cost the server anything. */
export function onVisibility() {
  if (document.hidden) stream?.abort();
  else if (!paused) follow();
}
`;
