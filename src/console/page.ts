/** The console for now: one plain page that reads the control API and shows what a newcomer asks first. */
export const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Understudy</title>
<link rel="stylesheet" href="/_console/style.css">
<link rel="icon" href="data:,">
</head>
<body>
<header>
  <h1>Understudy</h1>
  <p id="health" role="status">Asking the server …</p>
</header>
<main>
  <form id="token-form" hidden>
    <label>Control token <input id="token" type="password" autocomplete="off" required></label>
    <button>Use it</button>
  </form>
  <section aria-labelledby="sandboxes-title">
    <h2 id="sandboxes-title">Sandboxes</h2>
    <table><thead><tr><th>name</th><th>base URL</th><th>fixture</th><th>seed</th><th>clock</th><th>scenarios</th></tr></thead>
    <tbody id="sandboxes"></tbody></table>
  </section>
  <section aria-labelledby="credentials-title">
    <h2 id="credentials-title">Credentials of <code id="chosen">default</code></h2>
    <p>Send one as the header <code>api-key</code>, <code>X-API-Key</code>, or <code>Authorization: Bearer</code>.</p>
    <table><thead><tr><th>user</th><th>key</th><th>organization</th><th>name</th></tr></thead>
    <tbody id="credentials"></tbody></table>
  </section>
  <section aria-labelledby="journal-title">
    <h2 id="journal-title">Latest requests</h2>
    <table><thead><tr><th>at</th><th>request</th><th>status</th><th>code</th><th>decided by</th></tr></thead>
    <tbody id="journal"></tbody></table>
  </section>
  <section aria-labelledby="documents-title">
    <h2 id="documents-title">Documents</h2>
    <ul>
      <li><a href="/_control/openapi.json">OpenAPI 3.1 document</a></li>
      <li><a href="/_control/fidelity">Fidelity ledger</a></li>
      <li><a href="/_control/metrics">Metrics</a></li>
    </ul>
  </section>
</main>
<script src="/_console/app.js" type="module"></script>
</body>
</html>
`;

export const STYLE = `:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
body { margin: 0 auto; max-width: 72rem; padding: 1.5rem; }
header { display: flex; align-items: baseline; gap: 1rem; flex-wrap: wrap; }
h1 { font-size: 1.6rem; margin: 0; }
h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid color-mix(in srgb, currentColor 20%, transparent); vertical-align: top; }
td { overflow-wrap: anywhere; font-family: ui-monospace, monospace; }
td button { font: inherit; color: inherit; background: none; border: 0; padding: 0; text-decoration: underline; cursor: pointer; }
.error { color: #c0392b; }
tr.failed td { color: #c0392b; }
@media (prefers-color-scheme: dark) { .error, tr.failed td { color: #ff8a75; } }
`;

export const SCRIPT = `const byId = (id) => document.getElementById(id);
let token = sessionStorage.getItem("understudy-token");
let chosen = "default";

async function get(path) {
  const response = await fetch(path, { headers: token ? { authorization: "Bearer " + token } : {} });
  if (response.status === 401) {
    byId("token-form").hidden = false;
    throw new Error("This server is shared: enter its control token, which was printed when it started.");
  }
  const body = await response.json();
  if (!response.ok) throw new Error(body.detail ?? "The server answered " + response.status);
  return body;
}

// Text only: nothing that a sandbox holds is ever read as markup.
function fill(id, rows) {
  byId(id).replaceChildren(...rows.map(({ cells, failed }) => {
    const row = document.createElement("tr");
    if (failed) row.className = "failed";
    for (const cell of cells) {
      const data = document.createElement("td");
      data.append(cell instanceof Node ? cell : String(cell ?? ""));
      row.append(data);
    }
    return row;
  }));
}

function choice(name) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = name;
  button.addEventListener("click", () => { chosen = name; refresh(); });
  return button;
}

async function refresh() {
  try {
    const health = await get("/_control/health");
    byId("health").className = "";
    byId("health").textContent = "Version " + health.version + ", up " + Math.round(health.uptime_seconds) + " s, " + health.sandboxes + " sandbox(es)";
    const sandboxes = await get("/_control/sandboxes");
    fill("sandboxes", sandboxes.items.map((s) => ({ cells: [choice(s.name), s.base_url, s.fixture, s.seed, s.clock.mode + " " + s.clock.now, s.scenarios.join(", ")] })));
    if (!sandboxes.items.some((s) => s.name === chosen)) chosen = "default";
    byId("chosen").textContent = chosen;
    const keys = await get("/_control/sandboxes/" + chosen + "/state/api_keys?limit=100");
    fill("credentials", keys.items.map((k) => ({ cells: [k.user_id, k.key, k.current, k.name + (k.revoked ? " (revoked)" : "")] })));
    const journal = await get("/_control/sandboxes/" + chosen + "/journal?limit=25");
    fill("journal", journal.entries.map((e) => ({ cells: [e.at, e.method + " " + e.path, e.status, e.code, e.decision], failed: e.status >= 400 })));
  } catch (error) {
    byId("health").className = "error";
    byId("health").textContent = error.message;
  }
}

byId("token-form").addEventListener("submit", (event) => {
  event.preventDefault();
  token = byId("token").value;
  sessionStorage.setItem("understudy-token", token);
  byId("token-form").hidden = true;
  refresh();
});
refresh();
setInterval(() => { if (!document.hidden) refresh(); }, 2000);
`;
