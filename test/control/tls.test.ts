import { execFileSync, spawnSync } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { StartFlags } from "../../src/cli/start-flags.ts";
import { readStartOptions } from "../../src/cli/start-options.ts";
import { createUnderstudy } from "../../src/client/index.ts";
import { makeCertificate } from "../../src/hosts/node/make-certificate.ts";
import { type Api, KEYS, startReference } from "../support/harness.ts";
import { createTempFolder, removeTempFolders, runCommand, startCommand } from "../support/run-understudy.ts";

const DAY_MS = 86_400_000;
const made = makeCertificate(new Date(Date.now() - DAY_MS), new Date(Date.now() + 9 * DAY_MS));

let api: Api;
let port: number;
beforeAll(async () => {
  api = await startReference({ certificate: made });
  port = Number(new URL(api.url).port);
});
afterAll(async () => {
  await api.close();
  removeTempFolders();
});

interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  body: any;
}

function call(
  method: string,
  url: string,
  { body, headers = {} }: { body?: unknown; headers?: object } = {},
) {
  return new Promise<Answer>((resolve, reject) => {
    const type = body === undefined ? {} : { "content-type": "application/json" };
    const agent = new Agent({ keepAlive: false });
    const all = { "api-key": KEYS.dan, ...type, ...headers } as Record<string, string>;
    const sent = request(url, { method, ca: made.cert, agent, headers: all }, (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (piece) => {
        text += piece;
      });
      answer.on("error", reject);
      answer.on("end", () => {
        const isJson = answer.headers["content-type"]?.includes("json");
        resolve({ status: answer.statusCode!, body: isJson ? JSON.parse(text) : text });
      });
    });
    sent.on("error", reject);
    sent.end(typeof body === "string" || body === undefined ? body : JSON.stringify(body));
  });
}

const UPLOAD_URL = "/v1/organizations/org_acme/files/upload-url";
const ANNOUNCED = { filename: "a.txt", mime_type: "text/plain", file_size: 3 };

describe("the certificate for localhost [interfaces 16]", () => {
  it("names localhost, the names below it, and both loopback addresses, for servers only", () => {
    const { subjectAltName, ca, keyUsage, issuer, subject, publicKey } = new X509Certificate(made.cert);
    expect(subjectAltName).toBe(
      "DNS:localhost, DNS:*.localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1",
    );
    expect([ca, keyUsage, issuer === subject]).toEqual([false, ["1.3.6.1.5.5.7.3.1"], true]);
    expect(new X509Certificate(made.cert).verify(publicKey)).toBe(true);
  });

  it("is accepted by openssl in its strictest mode", ({ skip }) => {
    const file = join(createTempFolder(), "cert.pem");
    writeFileSync(file, made.cert);
    const { error, stdout, stderr } = spawnSync(
      "openssl",
      ["verify", "-x509_strict", "-purpose", "sslserver", "-verify_ip", "127.0.0.1", "-CAfile", file, file],
      { encoding: "utf8" },
    );
    skip(error !== undefined, "openssl is not installed");
    expect(stdout + stderr).toBe(`${file}: OK\n`);
  });
});

describe("a server with TLS [interfaces 16]", () => {
  it("answers, and every URL that it hands out is https", async () => {
    expect(api.url).toBe(`https://127.0.0.1:${port}`);
    expect((await call("GET", `https://localhost:${port}/v1/models`)).status).toBe(200);
    const announced = await call("POST", api.url + UPLOAD_URL, { body: ANNOUNCED });
    expect(announced.body.upload_url.startsWith(`${api.url}/upload/`)).toBe(true);
    expect((await call("PUT", announced.body.upload_url, { body: "abc" })).status).toBe(200);
    const sandbox = await call("POST", `${api.url}/_control/sandboxes`, { body: { origin: true } });
    const { name, base_url, origin } = sandbox.body;
    expect(base_url).toBe(`${api.url}/_s/${name}`);
    expect(origin).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
    expect((await call("GET", `${origin}/v1/models`)).status).toBe(200);
    const har = await call("GET", `${api.url}/_control/sandboxes/${name}/journal.har`);
    expect(har.body.log.entries[0].request.url).toBe(`${base_url}/v1/models`);
  });

  it("reaches itself without a trusted certificate: receivers, repeats, MCP", async () => {
    const S = `${api.url}/_control/sandboxes/default`;
    const receiver = await call("POST", `${S}/receivers`, { body: {} });
    expect(receiver.body.url.startsWith(`${api.url}/_receivers/default/`)).toBe(true);
    const hook = { url: receiver.body.url, events: ["user.updated"] };
    await call("POST", `${api.url}/webhooks`, { body: hook, headers: { "api-key": KEYS.ada } });
    const event = await call("POST", `${S}/events`, { body: { event: "user.updated", for: "usr_dan" } });
    expect(event.body.deliveries).toMatchObject([{ status: "success", response_code: 200 }]);
    const announced = await call("POST", api.url + UPLOAD_URL, { body: ANNOUNCED });
    expect(announced.status).toBe(200);
    const { entries } = (await call("GET", `${S}/history?kind=request`)).body;
    const repeated = await call("POST", `${S}/history/${entries[0].id}/repeat`, { body: {} });
    expect(repeated.status).toBe(200);
    const asked = {
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "list_sandboxes", arguments: {} },
    };
    const accept = { accept: "application/json, text/event-stream" };
    const answer = await call("POST", `${api.url}/_control/mcp`, { body: asked, headers: accept });
    expect(JSON.stringify(answer.body)).toContain(`${api.url}/_s/`);
  });

  it.each([
    ["reset", "ECONNRESET"],
    ["empty", "ECONNRESET"],
    ["truncate", "ECONNRESET"],
  ])("breaks its connections for the wire fault %s too", async (wire, code) => {
    const broken = call("GET", `${api.url}/v1/models`, { headers: { "x-sandbox-fault": wire } });
    await expect(broken).rejects.toMatchObject({ code });
  });

  it("closes at once although an idle connection is open", async () => {
    const own = await startReference({ certificate: made });
    const { port } = new URL(own.url);
    const idle = connectTls({
      port: Number(port),
      host: "127.0.0.1",
      ca: made.cert,
      servername: "localhost",
    });
    await new Promise((resolve) => idle.once("secureConnect", resolve));
    idle.on("error", () => {});
    const began = performance.now();
    await own.close();
    expect(performance.now() - began).toBeLessThan(20_000);
  });

  it("does not answer plain HTTP, and the library says that the URL needs https", async () => {
    const { connect } = await import("../../src/client/index.ts");
    await expect(connect(`http://127.0.0.1:${port}`).health()).rejects.toThrow(/write https:\/\//);
    await expect(connect(api.url).health()).rejects.toThrow(
      /its certificate is not accepted.*NODE_EXTRA_CA_CERTS/,
    );
  });
});

it("the library refuses an empty certificate, with which no connection would succeed [interfaces 16]", async () => {
  for (const empty of [
    { ...made, key: "" },
    { ...made, cert: "" },
  ])
    await expect(createUnderstudy({ certificate: empty })).rejects.toThrow();
});

it("the library calls a server with TLS in its own process [interfaces 8]", async () => {
  const understudy = await createUnderstudy({ certificate: made });
  try {
    const sandbox = await understudy.sandbox({ name: "mine", origin: true });
    for (const url of [understudy.url, sandbox.url, (await sandbox.info()).base_url])
      expect(url).toMatch(/^https:/);
  } finally {
    await understudy.close();
  }
});

describe("start --https [interfaces 16]", () => {
  const start = (flags: Partial<StartFlags>) =>
    readStartOptions({ json: false, quiet: true, ...flags } as StartFlags);

  it("stores its own certificate in the user's data folder, which clients can trust", async () => {
    // The folder's name has a space, as on macOS.
    const folder = join(createTempFolder(), "Application Support");
    mkdirSync(folder);
    const env = { XDG_DATA_HOME: folder, LOCALAPPDATA: folder, HOME: folder };
    const first = startCommand(["start", "--port", "0", "--https"], { cwd: folder, env });
    await expect.poll(() => first.output().stdout).toMatch(/Try:/);
    const { stdout } = first.output();
    const paste = (command: string) =>
      execFileSync("sh", ["-c", command], { encoding: "utf8", stdio: "pipe" });
    const file = paste(
      `${/export NODE_EXTRA_CA_CERTS=.+/.exec(stdout)![0]}; printf %s "$NODE_EXTRA_CA_CERTS"`,
    );
    const url = /API +(https:\S+)/.exec(stdout)![1]!;
    expect(JSON.parse(paste(/curl .+/.exec(stdout.split("Try:")[1]!)![0]))).toHaveProperty("summary");
    expect(file.startsWith(folder)).toBe(true);
    const key = join(file, "..", "localhost-key.pem");
    expect(statSync(key).mode & 0o077).toBe(0);
    const health = execFileSync(
      process.execPath,
      ["-e", `fetch("${url}/_control/health").then(async (a) => console.log(await a.text()))`],
      { env: { ...process.env, NODE_EXTRA_CA_CERTS: file }, encoding: "utf8" },
    );
    expect(JSON.parse(health)).toMatchObject({ status: "ok" });
    const before = readFileSync(file, "utf8");
    first.child.kill("SIGTERM");
    await first.finished;
    const second = startCommand(["start", "--port", "0", "--https"], { cwd: folder, env });
    await expect.poll(() => second.output().stdout).toMatch(/Try:/);
    second.child.kill("SIGTERM");
    await second.finished;
    expect(readFileSync(file, "utf8")).toBe(before);
  }, 60_000);

  it("serves the stored certificate from two servers whose first starts were at the same time", async () => {
    const folder = createTempFolder();
    const env = { XDG_DATA_HOME: folder, LOCALAPPDATA: folder, HOME: folder };
    const servers = [1, 2].map(() => startCommand(["start", "--port", "0", "--https"], { cwd: folder, env }));
    for (const { output } of servers) await expect.poll(() => output().stdout).toMatch(/Try:/);
    const [, file] = /NODE_EXTRA_CA_CERTS="?([^"\n]+localhost\.pem)/.exec(servers[0]!.output().stdout)!;
    const stored = new X509Certificate(readFileSync(file!)).fingerprint256;
    for (const { child, output, finished } of servers) {
      const { port } = new URL(/API +(https:\S+)/.exec(output().stdout)![1]!);
      const socket = connectTls({ port: Number(port), rejectUnauthorized: false });
      await once(socket, "secureConnect");
      expect(socket.getPeerX509Certificate()!.fingerprint256).toBe(stored);
      socket.destroy();
      child.kill("SIGTERM");
      await finished;
    }
  }, 60_000);

  it("uses the given files", async () => {
    const folder = createTempFolder();
    const [cert, key] = [join(folder, "c.pem"), join(folder, "k.pem")];
    writeFileSync(cert, made.cert);
    writeFileSync(key, made.key);
    expect((await start({ https: true, cert, key })).server.certificate).toEqual(made);
  });

  it("refuses files that it cannot use with one sentence and exit code 2", async () => {
    const folder = createTempFolder();
    const [cert, key, other, broken, empty] = ["c", "k", "o", "b", "e"].map((name) =>
      join(folder, `${name}.pem`),
    ) as string[];
    writeFileSync(cert!, made.cert);
    writeFileSync(key!, made.key);
    writeFileSync(other!, makeCertificate(new Date(), new Date()).key);
    writeFileSync(broken!, "-----BEGIN CERTIFICATE-----\nnothing\n");
    writeFileSync(empty!, "");
    const nowhere = join(folder, "nowhere.pem");
    mkdirSync(join(folder, "folder"));
    for (const [args, said] of [
      [
        ["--https", "--cert", nowhere, "--key", key],
        /^--cert \S+nowhere\.pem cannot be read: there is no such file or folder$/m,
      ],
      [
        ["--https", "--cert", cert, "--key", join(folder, "folder")],
        /^--key \S+folder cannot be read: it is a folder$/m,
      ],
      [["--https", "--cert", cert, "--key", other], /cannot be used together: .*mismatch/i],
      [["--https", "--cert", broken, "--key", key], /cannot be used together: /],
      [["--https", "--cert", cert, "--key", empty], /cannot be used together: /],
      [["--https", "--cert", empty, "--key", empty], /cannot be used together: /],
      [["--https", "--cert", cert], /^--cert needs --key/],
      [["--https", "--key", key], /^--key needs --cert/],
      [["--cert", cert, "--key", key], /^--cert and --key need --https/],
      [
        ["--trust-proxy", "10.0.0.0/33"],
        /^--trust-proxy: "10\.0\.0\.0\/33" is neither an address nor a range/,
      ],
      [["--trust-proxy", "proxy.test"], /^--trust-proxy: "proxy\.test" is neither/],
      [["--public-url", "https://x.test/?a=1"], /^--public-url takes an address/],
    ] as [string[], RegExp][]) {
      const { code, stderr } = await runCommand(["start", "--port", "0", ...args]);
      expect([args, code, stderr.trim().split("\n").length]).toEqual([args, 2, 1]);
      expect(stderr.trim().replace(/^understudy: /, "")).toMatch(said);
    }
  }, 60_000);
});
