/**
 * Source text that runs in the browser: a page that tries to use the control API and the console. Its parameters are
 * the server's base URL and the console's files. It returns the result of each attempt: `refused`, `sent` if the page
 * cannot read the response, or the response.
 */
const ATTACKS = `async (base, { script, style }) => {
  const control = base + "/_control/sandboxes";
  const outcomes = {};
  const json = { "content-type": "application/json" };

  const checked = (text, status) => text.includes('"urn:understudy:problem:') ? "refused" : "got " + status + " " + text.slice(0, 80);
  const fetched = async (path, options) => {
    try {
      const response = await fetch(base + path, options);
      if (response.type === "opaque") return "sent";
      // Reads only the first chunk, since a stream does not end.
      const { value } = await (response.body?.getReader().read() ?? {});
      return checked(new TextDecoder().decode(value), response.status);
    } catch {
      return "refused";
    }
  };
  const loaded = (name, attributes) => new Promise((resolve) => {
    const element = Object.assign(document.createElement(name), attributes);
    element.onload = () => resolve("got");
    element.onerror = () => resolve("refused");
    document.body.append(element);
  });
  const opened = (connection) => new Promise((resolve) => {
    connection.onopen = () => { connection.close(); resolve("got"); };
    connection.onmessage = connection.onopen;
    connection.onerror = () => { connection.close(); resolve("refused"); };
  });
  const framed = (url) => new Promise((resolve) => {
    const frame = document.createElement("iframe");
    frame.onload = () => {
      let text;
      try { text = frame.contentDocument.body.textContent; } catch {}
      resolve(text ? checked(text, "a frame") : "refused");
    };
    frame.src = url;
    document.body.append(frame);
  });
  let forms = 0;
  const posted = (url, enctype, fields) => new Promise((resolve) => {
    const frame = document.createElement("iframe");
    frame.name = "answer" + forms++;
    const form = Object.assign(document.createElement("form"), { method: "POST", action: url, enctype, target: frame.name });
    for (const [name, value] of Object.entries(fields)) form.append(Object.assign(document.createElement("input"), { name, value }));
    document.body.append(frame, form);
    frame.onload = () => resolve("sent");
    form.submit();
  });

  for (const path of ["/health", "/sandboxes", "/sandboxes/default/state/api_keys", "/sandboxes/default/journal", "/openapi.json"]) {
    outcomes["read " + path] = await fetched("/_control" + path, { cache: "no-store" });
  }
  outcomes["read stream"] = await fetched("/_control/sandboxes/default/journal/stream", { headers: { "last-event-id": "0" } });
  outcomes["read console"] = await fetched("/_console", {});
  outcomes["read script"] = await fetched(script, {});
  outcomes["EventSource"] = await opened(new EventSource(control + "/default/journal/stream"));
  for (const path of ["/_control/sandboxes/default/journal/stream", "/_console"]) {
    outcomes["WebSocket " + path] = await opened(new WebSocket(base.replace("http", "ws") + path));
  }
  outcomes["<script> console"] = await loaded("script", { src: base + script });
  outcomes["<script> control"] = await loaded("script", { src: control });
  outcomes["<link> console"] = await loaded("link", { rel: "stylesheet", href: base + style });
  outcomes["<img> control"] = await loaded("img", { src: control + "/default/reset" });
  outcomes["<img> stream"] = await loaded("img", { src: control + "/default/journal/stream" });
  outcomes["<iframe> console"] = await framed(base + "/_console");
  outcomes["<iframe> control"] = await framed(control);

  const forged = JSON.stringify({ name: "forged" });
  outcomes["create"] = await fetched("/_control/sandboxes", { method: "POST", headers: json, body: forged });
  outcomes["create, simple"] = await fetched("/_control/sandboxes", { method: "POST", mode: "no-cors", body: forged });
  outcomes["reset"] = await fetched("/_control/sandboxes/default/reset", { method: "POST" });
  outcomes["reset, simple"] = await fetched("/_control/sandboxes/default/reset", { method: "POST", mode: "no-cors" });
  outcomes["delete"] = await fetched("/_control/sandboxes/victim", { method: "DELETE" });
  outcomes["settings"] = await fetched("/_control/sandboxes/default", { method: "PATCH", headers: json, body: '{"settings":{"cors_origins":["*"]}}' });
  outcomes["state"] = await fetched("/_control/sandboxes/default/state/threads/thread_ada", { method: "DELETE" });
  outcomes["<form> reset"] = await posted(control + "/default/reset", "application/x-www-form-urlencoded", {});
  outcomes["<form> create"] = await posted(control, "text/plain", { '{"name":"forged","seed":1,"fixture":"': 'reference"}' });
  outcomes["<form> fork"] = await posted(control + "/default/fork", "text/plain", { '{"name":"forged': '"}' });
  outcomes["log in"] = await fetched("/_console/login", { method: "POST", headers: json, body: '{"code":"guess"}' });
  outcomes["beacon"] = navigator.sendBeacon(control + "/default/reset", new Blob([], { type: "text/plain" })) ? "sent" : "refused";
  return outcomes;
}`;

export function attack(base: string, files: { script: string; style: string }): string {
  return `(${ATTACKS})(${JSON.stringify(base)}, ${JSON.stringify(files)})`;
}

/** Fetches the emulated API from a page. Returns the parts of the response that the page's script can read. */
export function fetchFromPage(url: string, options: object): string {
  return `fetch(${JSON.stringify(url)}, ${JSON.stringify(options)}).then(
    async (response) => ({ status: response.status, headers: Object.fromEntries(response.headers), text: await response.text() }),
    () => "refused",
  )`;
}
