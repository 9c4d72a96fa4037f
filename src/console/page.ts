/** The console: one plain page over the control API, which shows what a newcomer asks first. */
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
  <p id="health" class="quiet">Asking the server …</p>
</header>
<p id="trouble" class="trouble" role="alert" hidden></p>
<noscript><p class="trouble">This page is a client of the control API and needs JavaScript. The same is told by <code>understudy status</code>.</p></noscript>
<main>
  <form id="token-form" hidden>
    <label for="token">Control token, as printed when the server started</label>
    <input id="token" type="password" autocomplete="off" required>
    <button>Use it</button>
  </form>
  <section aria-labelledby="sandboxes-title">
    <h2 id="sandboxes-title">Sandboxes</h2>
    <div class="scroll" role="region" aria-labelledby="sandboxes-title" tabindex="0"><table class="sandboxes">
      <thead><tr><th scope="col">Name</th><th scope="col">Base URL</th><th scope="col">Clock (UTC)</th><th scope="col">Fixture</th><th scope="col" class="number">Seed</th><th scope="col">Scenarios on</th></tr></thead>
      <tbody id="sandboxes"></tbody>
    </table></div>
    <p id="more-sandboxes" class="quiet" hidden></p>
  </section>
  <section aria-labelledby="credentials-title">
    <h2 id="credentials-title">Credentials of <span class="chosen">default</span></h2>
    <p>Send a key as the header <code>api-key</code>, <code>X-API-Key</code> or <code>Authorization: Bearer</code>. A line to try it:</p>
    <div class="line"><pre id="curl" tabindex="0">…</pre><button type="button" id="copy-curl">Copy</button></div>
    <div class="scroll" role="region" aria-labelledby="credentials-title" tabindex="0"><table class="credentials">
      <thead><tr><th scope="col">User</th><th scope="col">Who</th><th scope="col">Key</th><th scope="col">Its name</th><th scope="col">Try</th></tr></thead>
      <tbody id="credentials"></tbody>
    </table></div>
    <p id="no-credentials" class="quiet" hidden>This sandbox has no API keys.</p>
  </section>
  <section aria-labelledby="journal-title">
    <div class="head">
      <h2 id="journal-title">Requests to <span class="chosen">default</span></h2>
      <button type="button" id="pause" aria-pressed="false">Pause</button>
    </div>
    <p class="quiet">The last 50, newest first, as they come. Open one for why it was answered so; secrets are masked.</p>
    <div class="scroll" role="region" aria-labelledby="journal-title" tabindex="0"><table class="journal" id="journal">
      <thead><tr><th scope="col">Sandbox's time</th><th scope="col">Request</th><th scope="col">Answer</th><th scope="col">Decided by</th><th scope="col">As</th><th scope="col" class="number">ms</th></tr></thead>
    </table></div>
    <p id="no-journal" class="quiet">No request has reached this sandbox yet.</p>
  </section>
  <section aria-labelledby="documents-title">
    <h2 id="documents-title">Documents</h2>
    <ul id="documents">
      <li><a href="/_control/openapi.json">OpenAPI 3.1 document</a> of the emulated API</li>
      <li><a href="/_control/fidelity">Fidelity ledger</a>: what is specified, what is assumed, and the setting that changes it</li>
      <li><a href="/_control/metrics">Metrics</a> for Prometheus</li>
      <li><a data-of-sandbox="/coverage.html">Coverage</a> of <span class="chosen">default</span>: documented outcomes seen and never seen</li>
      <li><a data-of-sandbox="/journal.har">Journal as HAR</a> of <span class="chosen">default</span>, for a browser's network panel</li>
    </ul>
    <p class="quiet">For every endpoint of the control API see <code>docs/control-api.md</code>; <code>npx understudy --help</code> lists the commands.</p>
  </section>
</main>
<p id="said" class="hidden" role="status"></p>
<script src="/_console/app.js" type="module"></script>
</body>
</html>
`;
