/**
 * Half of the console's script: calls to the control API, and what puts an answer on the page. Whatever a
 * sandbox holds becomes a text node, never markup; the page's policy (trusted types) refuses anything else.
 */
export const CLIENT_SCRIPT = `const NAME = /^[a-z0-9][a-z0-9-]{0,62}$/;

/** What the page shows at the moment. */
export const state = { token: sessionStorage.getItem("understudy-token"), chosen: fromHash(), user: undefined };

export const byId = (id) => document.getElementById(id);

export function fromHash() {
  const name = location.hash.slice(1);
  return NAME.test(name) ? name : "default";
}

export function pathOf(rest) {
  return "/_control/sandboxes/" + state.chosen + rest;
}

export async function call(path, options = {}) {
  const headers = { ...options.headers };
  if (state.token) headers.authorization = "Bearer " + state.token;
  const response = await fetch(path, { ...options, headers });
  if (response.ok) return response;
  const problem = await response.json().catch(() => ({}));
  if (response.status === 401) askToken();
  throw Object.assign(new Error(problem.detail ?? "The server answered " + response.status + "."), { status: response.status });
}

export async function get(path) {
  return (await call(path)).json();
}

function askToken() {
  if (!byId("token-form").hidden) return;
  byId("token-form").hidden = false;
  byId("token").focus();
}

export function complain(error) {
  const text = error === undefined ? "" : error instanceof TypeError ? "The server does not answer. Trying again …" : error.message;
  if (byId("trouble").textContent === text) return;
  byId("trouble").hidden = text === "";
  byId("trouble").textContent = text;
}

export function say(text) {
  byId("said").textContent = text;
}

export function element(name, { text, attributes = {}, on = {} } = {}) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  for (const [event, listener] of Object.entries(on)) made.addEventListener(event, listener);
  return made;
}

// Changes only what differs, so that neither the focus nor a selection is lost while the page renews itself.
export function fill(body, rows) {
  while (body.rows.length > rows.length) body.deleteRow(-1);
  for (const [at, { cells, className = "" }] of rows.entries()) {
    const row = body.rows[at] ?? body.insertRow();
    if (row.className !== className) row.className = className;
    for (const [column, cell] of cells.entries()) {
      const data = row.cells[column] ?? row.insertCell();
      const key = typeof cell === "object" ? cell.key : String(cell ?? "");
      if (data.key === key) continue;
      data.key = key;
      data.replaceChildren(typeof cell === "object" ? cell.make() : key);
    }
  }
}

export function shortTime(iso) {
  return String(iso).replace("T", " ").replace(/\\.\\d+Z$/, "");
}
`;
