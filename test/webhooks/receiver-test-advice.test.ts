import { createHmac } from "node:crypto";
import { once } from "node:events";
import http from "node:http";
import https from "node:https";
import net, { type AddressInfo, type Server } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { OPTION_NAMES } from "../../src/tools/grader/report.ts";
import type { CheckReport, ReceiverReport } from "../../types/control-api.ts";
import { startReference } from "../support/harness.ts";
import { getSentSignature, type Steps, startReceiver } from "../support/receivers/flawed/flawed-receiver.ts";
import { grade, SECRET } from "../support/receivers/grade-setup.ts";
import { TEST_CERTIFICATE, TEST_KEY } from "../support/receivers/test-certificate.ts";
import { runCommand } from "../support/run-understudy.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

const startRunning = async (steps: Partial<Steps> = {}) => {
  const receiver = await startReceiver(SECRET, steps);
  cleanups.push(() => receiver.close());
  return receiver;
};

async function listen(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanups.push(() => server.close());
  return (server.address() as AddressInfo).port;
}

const findCheck = ({ checks }: ReceiverReport, id: string): CheckReport =>
  checks.find((check) => check.id === id)!;

/** The advice on a receiver that gives this answer to every delivery. */
async function findAdvice(
  status: number,
  headers: Record<string, string> = {},
  body = "",
): Promise<CheckReport & { url: string }> {
  const server = http.createServer((request, response) => {
    request.resume();
    response.writeHead(status, headers).end(body);
  });
  const url = `http://127.0.0.1:${await listen(server)}/hook`;
  return { ...(await grade(url)).checks[0]!, url };
}

describe("the advice of the receiver test", () => {
  const answers: [status: number, headers: Record<string, string>, body: string, advice: RegExp][] = [
    [301, { Location: "/hook/" }, "", /^Register http:\/\/127\.0\.0\.1:\d+\/hook\/ .*with the final slash/],
    [307, { Location: "/hook" }, "", /^This route redirects to itself/],
    [302, { Location: "/login?next=hook" }, "", /login page/],
    [308, { Location: "https://receiver.test/hook" }, "", /https instead of http/],
    [308, { Location: "/hook/?team=1" }, "", /^Register http:\/\/127\.0\.0\.1:\d+\/hook\/\?team=1 as/],
    [400, {}, "", /could not read the request/],
    [401, {}, "", /rejects a correct signature.*signature explain/],
    [401, { "WWW-Authenticate": "Basic" }, "", /HTTP credentials/],
    [403, {}, "CSRF verification failed", /cross-site requests/],
    [404, {}, "", /Nothing is routed at this path/],
    [405, {}, "", /Deliveries are POST/],
    [409, {}, "", /processed before.*patienceMs/],
    [411, {}, "", /without a Content-Length/],
    [413, {}, "", /Raise the body limit/],
    [415, {}, "", /application\/json/],
    [422, {}, "", /validation.*data: \{ user_id/],
    [500, {}, "", /handler threw an exception/],
    [502, {}, "", /gateway answered.*down/],
    [503, {}, "", /overloaded.*patienceMs/],
    [504, {}, "", /gave up waiting.*answer 2xx/],
  ];
  it.each(answers)("fits the answer %i %j %s [6.4]", async (status, headers, body, advice) => {
    const found = await findAdvice(status, headers, body);
    expect(found).toMatchObject({ id: "valid-accepted", outcome: "failed" });
    expect(found.advice).toMatch(advice);
  });

  it("differs for two different statuses [6.4]", async () => {
    const statuses = [301, 400, 401, 404, 405, 409, 411, 413, 415, 422, 500, 502, 503, 504];
    const advices = await Promise.all(statuses.map(async (status) => (await findAdvice(status)).advice));
    expect(new Set(advices).size).toBe(statuses.length);
  });

  it("says to store the delivery first for a late answer [6.4]", async () => {
    const { url } = await startRunning({ process: () => new Promise<never>(() => {}) });
    const { advice } = (await grade(url, { timeoutMs: 300 })).checks[0]!;
    expect(advice).toMatch(/^Store the delivery durably.*answer 2xx.*waits 30 s/);
  });

  it("explains an untrusted certificate, and http used for https or the reverse [G24]", async () => {
    const secure = https.createServer({ cert: TEST_CERTIFICATE, key: TEST_KEY });
    const port = await listen(secure);
    const own = (await grade(`https://127.0.0.1:${port}/`)).checks[0]!;
    expect(own.advice).toMatch(/caFile/);
    const plain = await startRunning();
    const tls = (await grade(plain.url.replace("http:", "https:"))).checks[0]!;
    expect(tls.advice).toMatch(/speaks plain HTTP/);
  });

  it("explains an answer that is not HTTP, and a closed connection [G24]", async () => {
    const other = net.createServer((socket) => socket.on("error", () => {}).end("SSH-2.0-server\r\n"));
    const noHttp = (await grade(`http://127.0.0.1:${await listen(other)}/`)).checks[0]!;
    expect(noHttp.advice).toMatch(/isn't HTTP/);
    const closing = http.createServer((request) => request.socket.destroy());
    const hungUp = (await grade(`http://127.0.0.1:${await listen(closing)}/`)).checks[0]!;
    expect(hungUp.advice).toMatch(/closed the connection.*exception, a crash or a restart/);
  });

  it.each([
    [
      "a header that is too long",
      {},
      `X-Note: ${"a".repeat(20_000)}`,
      /headers that HTTP does not allow: more than 16 KB/,
    ],
    [
      "a control character in a header",
      {},
      "X-Note: \u0001",
      /headers that HTTP does not allow.*a control character/,
    ],
    [
      "a body that never ends",
      { timeoutMs: 500 },
      "Content-Length: 10\r\n\r\nabc",
      /began and never ended.*Content-Length/,
    ],
  ])("explains an answer with %s [G24]", async (_, options, rest, advice) => {
    const server = net.createServer((socket) => {
      socket.on("error", () => {}).once("data", () => socket.write(`HTTP/1.1 200 OK\r\n${rest}\r\n\r\n`));
    });
    const url = `http://127.0.0.1:${await listen(server)}/`;
    expect((await grade(url, options)).checks[0]!.advice).toMatch(advice);
  });

  it("follows the answer, not the subject of the check [6.4]", async () => {
    const { url } = await startRunning({
      consider: (_context, { event }) => (event.startsWith("message") ? [502] : null),
    });
    const large = findCheck(await grade(url), "body-large");
    expect(large.detail).toContain("answered 502");
    expect(large.advice).toMatch(/gateway answered/);
    const limited = await startRunning({
      screen: ({ request }) => (Number(request.headers["content-length"]) > 300_000 ? [413] : null),
    });
    expect(findCheck(await grade(limited.url), "body-large").advice).toMatch(/Raise the body limit/);
  });

  it("is the same in both checks that see a redirect [6.4]", async () => {
    const { url } = await startRunning({ screen: () => [301, "", { Location: "/webhook/" }] });
    const report = await grade(url);
    expect(findCheck(report, "no-redirect").advice).toBe(findCheck(report, "valid-accepted").advice);
  });
});

describe("advice names options as the caller's interface does", () => {
  const graders = {
    async cli(url: string): Promise<ReceiverReport> {
      const { stdout } = await runCommand([
        "receiver-test",
        url,
        "--secret",
        SECRET,
        "--patience",
        "0",
        "--json",
      ]);
      return JSON.parse(stdout);
    },
    library: (url: string) => grade(url, { patienceMs: 0 }),
    async control(url: string): Promise<ReceiverReport> {
      const api = await startReference();
      cleanups.push(() => api.close());
      const body = { url, secret: SECRET, patience_seconds: 0, memory_seconds: 0 };
      const { text } = await api.call(undefined, "POST", "/_control/sandboxes/default/receiver-test", body);
      return [...text.matchAll(/^data: ([^\n]*)/gm)].map(([, event]) => JSON.parse(event!)).at(-1).report;
    },
  };
  const receivers: [what: string, start: () => Promise<string>][] = [
    ["a receiver that answers 409", async () => (await findAdvice(409)).url],
    ["a receiver that answers 422", async () => (await findAdvice(422)).url],
    ["a receiver that answers 503", async () => (await findAdvice(503)).url],
    [
      "a receiver with a certificate of its own",
      async () => {
        const server = https.createServer({ cert: TEST_CERTIFICATE, key: TEST_KEY });
        return `https://127.0.0.1:${await listen(server)}/`;
      },
    ],
    ["a receiver that goes down", async () => (await startRunning({ screen: failAfter(1) })).url],
    ["a sound receiver without a probe", async () => (await startRunning()).url],
  ];
  /** A receiver that answers 503 after `count` deliveries. */
  function failAfter(count: number): NonNullable<Steps["screen"]> {
    let answered = 0;
    return () => (++answered > count ? [503] : null);
  }
  const joinTexts = ({ checks, stopped, manual_checks }: ReceiverReport) =>
    [
      ...checks.flatMap(({ detail, advice, note }) => [detail, advice, note]),
      ...manual_checks.map(({ how }) => how),
      stopped,
    ].join("\n");

  it.each(Object.keys(graders) as (keyof typeof graders)[])("in the %s [interfaces 14]", async (surface) => {
    const texts = await Promise.all(
      receivers.map(async ([, start]) => joinTexts(await graders[surface](await start()))),
    );
    const text = texts.join("\n");
    for (const [one, names] of Object.entries(OPTION_NAMES)) {
      for (const name of Object.values(names))
        expect([name, text.includes(name)]).toEqual([name, one === surface]);
    }
    if (surface !== "cli") expect(text).not.toMatch(/(?<!`)--[a-z]/);
  });
});

describe("late side effects in the receiver test", () => {
  const processLate = (ms: number): Partial<Steps> => ({
    process({ memory }, { delivery_id: id }) {
      if (!memory.known.has(id)) {
        memory.known.add(id);
        setTimeout(() => memory.processed.push(id), ms);
      }
      return [202];
    },
  });

  it("are awaited for longer than the patience, and the option is named [6.4]", async () => {
    const { url, probe } = await startRunning(processLate(500));
    const report = await grade(url, { probe, patienceMs: 300, only: ["valid-processed", "duplicate"] });
    expect(report.verdict).toBe("pass");
    expect(findCheck(report, "valid-processed").note).toMatch(
      /happened .* after the answer.*patienceMs to \d/,
    );
  });

  it("fail if they never come, and the option is named [6.4]", async () => {
    const { url, probe } = await startRunning({ process: () => [200] });
    const report = await grade(url, { probe, patienceMs: 50, only: ["valid-processed", "duplicate"] });
    for (const id of ["valid-processed", "duplicate"]) {
      const { outcome, advice } = findCheck(report, id);
      expect(outcome).toBe("failed");
      expect(advice).toMatch(/Store the delivery durably.*raise patienceMs/);
      expect(advice).not.toMatch(/unique key/);
    }
  });
});

describe("a wrong signature of a receiver", () => {
  const digest = (key: string | Uint8Array, body: Buffer | string) =>
    createHmac("sha256", key).update(body).digest("hex");
  const causes: [name: string, signature: (body: Buffer) => string, cause: RegExp, fix: RegExp][] = [
    [
      "without its prefix",
      (body) => `sha256=${digest(SECRET.slice(6), body)}`,
      /without its whsec_/,
      /whsec_ included/,
    ],
    [
      "with its prefix twice",
      (body) => `sha256=${digest(`whsec_${SECRET}`, body)}`,
      /prefix twice/,
      /whsec_/,
    ],
    [
      "decoded from base64",
      (body) => `sha256=${digest(Buffer.from(SECRET.slice(6), "base64"), body)}`,
      /decoded from base64/,
      /nothing decoded/,
    ],
    ["with a line end", (body) => `sha256=${digest(`${SECRET}\n`, body)}`, /a line break after it/, /added/],
    ["never set", (body) => `sha256=${digest("undefined", body)}`, /"undefined"/, /whsec_/],
    [
      "and base64 for its digest",
      (body) => Buffer.from(digest(SECRET, body), "hex").toString("base64"),
      /base64/,
      /hex digits/,
    ],
    [
      "and JSON written anew, as Python does",
      (body) => `sha256=${digest(SECRET, body.toString().replaceAll(/([:,])(?=["{])/g, "$1 "))}`,
      /a space after : and ,/,
      /before anything parses/,
    ],
    [
      "and the timestamp before the body",
      (body) => `sha256=${digest(SECRET, `${JSON.parse(body.toString()).timestamp}.${body}`)}`,
      /payload's timestamp, a dot/,
      /without anything added/,
    ],
  ];
  it.each(causes)("is explained by a secret %s [6.3]", async (_name, signature, cause, fix) => {
    const { url } = await startRunning({
      isSigned: (context) => getSentSignature(context) === signature(context.body),
    });
    const report = await grade(url);
    const { outcome, detail, advice } = report.checks[0]!;
    expect(outcome).toBe("failed");
    expect(detail).toMatch(cause);
    expect(advice).toMatch(fix);
    expect(JSON.stringify(report)).not.toContain(SECRET.slice(6));
  });

  it("has no invented cause for an unrelated secret [6.3]", async () => {
    const { url } = await startRunning({ isSigned: () => false });
    const { detail, advice } = (await grade(url)).checks[0]!;
    expect(detail).not.toContain("accepts a delivery with another signature");
    expect(advice).toContain("signature explain");
  });
});

describe("checks that cannot be made from outside", () => {
  it("are listed once, with the place in the code to look at [6]", async () => {
    const { url } = await startRunning();
    const { manual_checks } = await grade(url, { only: ["valid-accepted"] });
    const text = manual_checks.map(({ what, how }) => `${what}. ${how}`).join("\n");
    expect(text).toMatch(/constant time.*timingSafeEqual/);
    expect(text).toMatch(/24 hours.*unique key/);
  });
});
