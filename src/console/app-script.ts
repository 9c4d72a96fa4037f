/** The part of the console that shows server, sandboxes and credentials, and listens to the user. */
export const APP_SCRIPT = `import { byId, call, complain, element, fill, fromHash, get, pathOf, say, shortTime, state } from "./client.js";
import { noticeClearing, onVisibility, showJournal, togglePause } from "./journal.js";

const MAX_SANDBOXES = 100;
const RENEW_MS = 3000;

function showHealth({ version, uptime_seconds: up, sandboxes }) {
  const since = up < 120 ? up + " s" : up < 7200 ? Math.floor(up / 60) + " min" : Math.floor(up / 3600) + " h";
  byId("health").textContent = "Version " + version + ", up " + since + ", " + sandboxes + (sandboxes === 1 ? " sandbox" : " sandboxes");
}

function showSandboxes(items, total) {
  fill(byId("sandboxes"), items.map((one) => ({
    className: one.name === state.chosen ? "chosen-row" : "",
    cells: [
      {
        key: one.name + (one.name === state.chosen),
        make: () => element("a", { text: one.name, attributes: { href: "#" + one.name, ...(one.name === state.chosen ? { "aria-current": "true" } : {}) } }),
      },
      one.base_url, clockText(one.clock), one.fixture, one.seed, one.scenarios.join(", ") || "none",
    ],
  })));
  byId("more-sandboxes").hidden = items.length === total;
  byId("more-sandboxes").textContent = "Only one of " + total + " is shown. For another, put its name behind the # of this page's address.";
}

function clockText({ mode, now, rate }) {
  return shortTime(now) + " " + mode + (mode === "scaled" ? " x" + rate : "");
}

async function showCredentials(sandbox) {
  const [keys, users] = await Promise.all([get(pathOf("/state/api_keys?limit=100")), get(pathOf("/state/users?limit=500"))]);
  if (sandbox.name !== state.chosen) return;
  const people = new Map(users.items.map((user) => [user.id, user]));
  const rows = keys.items.map((key) => ({ key, user: people.get(key.user_id), trouble: troubleOf(key, people.get(key.user_id), sandbox.clock.now) }));
  // Usable ones first: they are what a newcomer looks for.
  rows.sort((a, b) => (a.trouble ? 1 : 0) - (b.trouble ? 1 : 0));
  fill(byId("credentials"), rows.map(({ key, user, trouble }) => ({
    className: trouble ? "unusable" : "",
    cells: [key.user_id, whoText(key, user), key.key, key.name + (trouble ? " (" + trouble + ")" : ""), tryButton(key, sandbox.base_url)],
  })));
  byId("no-credentials").hidden = rows.length > 0;
  const usable = rows.find(({ key }) => key.id === state.user) ?? rows[0];
  byId("curl").textContent = usable ? curlLine(usable.key, sandbox.base_url) : "curl -s " + sandbox.base_url + "/v1/models";
}

function troubleOf(key, user, now) {
  if (key.revoked) return "revoked";
  if (key.expires_at !== null && key.expires_at <= now) return "expired";
  return user === undefined || user.account === "active" ? "" : user.account;
}

function whoText(key, user) {
  return (user?.name ?? "unknown") + ", " + (user?.memberships?.[key.current] ?? "no member") + " of " + key.current;
}

function tryButton(key, base) {
  const use = () => {
    state.user = key.id;
    byId("curl").textContent = curlLine(key, base);
    say("The line now uses the key of " + key.user_id + ".");
  };
  const label = "Use the key of " + key.user_id + ", " + key.name;
  const make = () => element("button", { text: "Use", attributes: { type: "button", "aria-label": label }, on: { click: use } });
  return { key: [key.key, label, base].join(" "), make };
}

function curlLine(key, base) {
  const quoted = "'" + ("api-key: " + key.key).replaceAll("'", "'\\\\''") + "'";
  return "curl -s -H " + quoted + " " + base + "/v1/models";
}

async function refresh() {
  try {
    const health = await get("/_control/health");
    showHealth(health);
    const few = health.sandboxes <= MAX_SANDBOXES;
    const items = few ? (await get("/_control/sandboxes")).items : [await get(pathOf(""))];
    const sandbox = items.find((one) => one.name === state.chosen);
    showSandboxes(items, few ? items.length : health.sandboxes);
    if (sandbox === undefined) throw new Error("There is no sandbox " + state.chosen + ". Choose one of the list.");
    await showCredentials(sandbox);
    await noticeClearing();
    complain(undefined);
  } catch (error) {
    complain(error);
  }
}

function choose() {
  state.chosen = fromHash();
  state.user = undefined;
  for (const place of document.querySelectorAll(".chosen")) place.textContent = state.chosen;
  for (const link of document.querySelectorAll("[data-of-sandbox]")) link.href = pathOf(link.dataset.ofSandbox);
  showJournal();
  return refresh();
}

async function copyLine() {
  const line = byId("curl");
  try {
    await navigator.clipboard.writeText(line.textContent);
    say("Copied.");
    byId("copy-curl").textContent = "Copied";
    setTimeout(() => { byId("copy-curl").textContent = "Copy"; }, 2000);
  } catch {
    // Without the right to write (or off loopback without TLS) the line is at least selected.
    getSelection().selectAllChildren(line);
    say("Selected; press the keys that copy.");
  }
}

// A link cannot carry the token, so on a shared server the document is fetched and saved.
async function download(event) {
  const link = event.target.closest("a");
  if (link === null || !state.token) return;
  event.preventDefault();
  try {
    const url = URL.createObjectURL(await (await call(link.href)).blob());
    element("a", { attributes: { href: url, download: new URL(link.href).pathname.split("/").at(-1) } }).click();
    URL.revokeObjectURL(url);
  } catch (error) {
    complain(error);
  }
}

function useToken(event) {
  event.preventDefault();
  state.token = byId("token").value;
  sessionStorage.setItem("understudy-token", state.token);
  byId("token").value = "";
  byId("token-form").hidden = true;
  choose();
}

byId("token-form").addEventListener("submit", useToken);
byId("pause").addEventListener("click", togglePause);
byId("copy-curl").addEventListener("click", copyLine);
byId("documents").addEventListener("click", download);
addEventListener("hashchange", choose);
document.addEventListener("visibilitychange", onVisibility);
choose();
setInterval(() => { if (!document.hidden) refresh(); }, RENEW_MS);
`;
