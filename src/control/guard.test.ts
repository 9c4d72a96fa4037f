import type { IncomingMessage, ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import { isLoopback } from "../engine/contract/http-url.ts";
import { createGuard, findTokenProblem, type Guard, parseAuthority, parseOrigin } from "./guard.ts";
import { Login } from "./login.ts";
import type { Problem } from "./problem.ts";
import { answerPreflight } from "./send-answer.ts";

const TOKEN = "a-token-of-tests";

/** A request with these headers, spelled as given. */
function request(headers: Record<string, string>, url = "/_control/health"): IncomingMessage {
  const lower = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
  return { rawHeaders: Object.entries(headers).flat(), headers: lower, url, method: "GET" } as never;
}

/** The kind and the value of the refusal; undefined if the request is allowed. */
function catchRefusal(run: () => void): [kind: string, value: unknown] | undefined {
  try {
    run();
    return undefined;
  } catch (error) {
    const { kind, body } = error as Problem;
    return [kind, body.value];
  }
}

const local = createGuard({
  allowHosts: ["sandbox.example.test", "10.0.0.5:4747", "fd00::1"],
  token: undefined,
});
const readSource = (headers: Record<string, string>, url?: string, guard: Guard = local) =>
  catchRefusal(() => guard.requireAllowedSource(request(headers, url)));

describe("access to the control API", () => {
  it.each([
    ["127.0.0.1:4747", undefined],
    ["127.255.255.255", undefined],
    ["localhost", undefined],
    ["LOCALHOST:1", undefined],
    ["[::1]:65535", undefined],
    ["sandbox.example.test", undefined],
    ["sandbox.example.test:9", undefined],
    ["10.0.0.5:4747", undefined],
    ["[fd00::1]:80", undefined],
    ["10.0.0.5", "10.0.0.5"],
    ["10.0.0.5:4748", "10.0.0.5:4748"],
    ["127.0.0.1:0", "127.0.0.1:0"],
    ["127.0.0.1:65536", "127.0.0.1:65536"],
    ["127.0.0.1:", "127.0.0.1:"],
    ["127.0.0.256", "127.0.0.256"],
    ["127.0.0.01", "127.0.0.01"],
    ["127.0.0", "127.0.0"],
    ["127.0.0.1.1", "127.0.0.1.1"],
    ["128.0.0.1", "128.0.0.1"],
    ["x@127.0.0.1", "x@127.0.0.1"],
    ["", ""],
    ["x".repeat(250), `${"x".repeat(199)}…`],
  ])("the Host %s is allowed or refused [interfaces 7]", (host, refused) => {
    expect(readSource({ Host: host })).toEqual(
      refused === undefined ? undefined : ["host-not-allowed", refused],
    );
  });

  it("every name that a request claims must be allowed [interfaces 7]", () => {
    expect(readSource({})).toEqual(["host-not-allowed", ""]);
    expect(readSource({ Host: "localhost", HOST: "localhost" })).toEqual([
      "host-not-allowed",
      "localhost, localhost",
    ]);
    expect(readSource({ Host: "localhost" }, "http://localhost:1/_control")).toBeUndefined();
    expect(readSource({ Host: "localhost" }, "HTTPS://evil.test/_control")).toEqual([
      "host-not-allowed",
      "evil.test",
    ]);
    expect(readSource({ Host: "localhost" }, "ftp://localhost/x")).toEqual([
      "host-not-allowed",
      "ftp://localhost/x",
    ]);
  });

  it.each([
    ["http://localhost:3000", false],
    ["https://sandbox.example.test", false],
    ["https://10.0.0.5:4747", false],
    ["https://10.0.0.5", true],
    ["null", true],
    ["ftp://localhost", true],
    ["http://localhost/", true],
    ["http://evil.test", true],
    ["x http://localhost", true],
  ])("the Origin %s is allowed or refused [interfaces 7]", (origin, isRefused) => {
    const refused = readSource({ Host: "localhost", Origin: origin });
    expect(refused).toEqual(isRefused ? ["origin-not-allowed", origin] : undefined);
  });

  it("a page of another site may link to the server, but load nothing from it [interfaces 7]", () => {
    const loadPage = (mode: string, more = {}) =>
      readSource({ Host: "localhost", "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": mode, ...more });
    expect(loadPage("navigate")).toBeUndefined();
    expect(loadPage("no-cors")).toEqual(["origin-not-allowed", "another site"]);
    expect(loadPage("cors", { Origin: "http://localhost" })).toBeUndefined();
    expect(
      readSource({ Host: "localhost", "Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors" }),
    ).toBeUndefined();
  });

  it("the emulated API checks the Host of browsers only [interfaces 3]", () => {
    const callWith = (headers: Record<string, string>) =>
      catchRefusal(() => local.requireAllowedBrowser(request({ Host: "api.test", ...headers })));
    const refused = ["host-not-allowed", "api.test"];
    expect(callWith({})).toBeUndefined();
    expect(callWith({ "User-Agent": "curl/8 Mozilla/5.0" })).toBeUndefined();
    expect(callWith({ "User-Agent": "Mozilla/5.0" })).toEqual(refused);
    expect(callWith({ Origin: "http://localhost" })).toEqual(refused);
    expect(callWith({ "Sec-Fetch-Site": "none" })).toEqual(refused);
    expect(callWith({ Origin: "http://api.test", Host: "localhost" })).toBeUndefined();
    try {
      local.requireAllowedBrowser(request({ Host: "api.test:80", Origin: "x" }));
    } catch (error) {
      const { headers, message } = error as Problem;
      expect(headers).toEqual({ "X-Sandbox-Decision": "host-not-allowed" });
      expect(message).toBe(
        "A browser sent this to a name that is not loopback. Call it as http://127.0.0.1 or http://localhost, or start the server with --allow-host api.test. Other clients may use any name.",
      );
    }
    expect(() => local.requireAllowedBrowser(request({ Host: "a b", Origin: "x" }))).toThrow(
      "--allow-host NAME.",
    );
  });

  it.each([
    ["http://localhost:4747/x", true],
    ["http://127.0.0.1:4747", true],
    ["http://localhost", true],
    ["http://localhost:4748", false],
    ["https://localhost:4747", true],
    ["http://sandbox.example.test:4747", true],
    ["http://evil.test:4747", false],
  ])("the URL %s is recognized as this server's: %j [interfaces 3]", (url, own) => {
    expect(local.isOwn(new URL(url), 4747)).toBe(own);
  });

  it.each([
    [`Bearer ${TOKEN}`, undefined],
    [`bearer   ${TOKEN} `, undefined],
    [undefined, "This server is shared"],
    [`Basic ${TOKEN}`, "This server is shared"],
    [`x Bearer ${TOKEN}`, "This server is shared"],
    [`Bearer ${TOKEN} more`, "This server is shared"],
    [`Bearer ${TOKEN}x`, "The token is not the one of this server"],
  ])("the Authorization %s is accepted, or refused with a reason [interfaces 7]", (authorization, says) => {
    const guard = createGuard({ allowHosts: [], token: TOKEN });
    const asked = () => guard.requireToken(request(authorization === undefined ? {} : { authorization }));
    if (says === undefined) expect(asked).not.toThrow();
    else expect(asked).toThrow(says);
    expect(() => local.requireToken(request({}))).not.toThrow();
  });

  it.each([
    ["sixteen-letters!", undefined],
    ["fifteen-letters", "must have at least 16 characters, not 15; omit it to have one generated"],
    ["sixteen letters!", "must be printable ASCII without spaces, as a header carries it"],
    ["sixteen-letterß!", "must be printable ASCII without spaces, as a header carries it"],
    ["", "must have at least 16 characters, not 0; omit it to have one generated"],
  ])("the control token %j is accepted, or refused with a reason [interfaces 7]", (token, problem) => {
    expect(findTokenProblem(token)).toBe(problem);
    const makeGuard = () => createGuard({ allowHosts: [], token });
    if (problem === undefined) expect(makeGuard).not.toThrow();
    else expect(makeGuard).toThrow(`the control token ${problem}`);
  });

  it("a host that no Host header can equal is refused at the start [interfaces 7]", () => {
    expect(() => createGuard({ allowHosts: ["http://x"], token: undefined })).toThrow(
      '"http://x" is not a host name: write it as in `sandbox.example.test` or `10.0.0.5:4747`',
    );
  });

  it("names are parsed only by their text [interfaces 7]", () => {
    expect(parseAuthority("A.Test:80")).toEqual({ host: "a.test", port: 80 });
    expect(parseAuthority("a".repeat(254))).toBeUndefined();
    expect(parseAuthority("[::1]x")).toBeUndefined();
    expect(parseOrigin("https://a.test:1")).toEqual({ host: "a.test", port: 1 });
    expect(parseOrigin("https://a@b")).toBeUndefined();
    expect([isLoopback("127.1"), isLoopback("127.0.0.1x"), isLoopback("x127.0.0.1")]).toEqual([
      false,
      false,
      false,
    ]);
  });
});

describe("the login of a shared server's console", () => {
  it("accepts its code once [interfaces 7]", () => {
    const login = new Login(TOKEN);
    const code = login.fragment!.replace("#login=", "");
    expect(code).toMatch(/^[\w-]{32}$/);
    for (const wrong of [undefined, 1, "", `${code}x`, "x".repeat(32)])
      expect(() => login.redeem(wrong)).toThrow(
        /^This login link was used already, or belongs to an earlier start/,
      );
    expect(login.redeem(code)).toBe(TOKEN);
    expect(login.fragment).toBeUndefined();
    for (const again of [code, ""]) expect(() => login.redeem(again)).toThrow("used already");
  });

  it("accepts only POST [interfaces 7]", async () => {
    const asked = Promise.resolve().then(() => new Login(TOKEN).handle(request({}), {} as never, ""));
    await expect(asked).rejects.toMatchObject({
      ...{ kind: "method-not-allowed", message: "A login is a POST.", headers: { Allow: "POST" } },
    });
  });
});

describe("preflights", () => {
  const answerWith = (method: string, headers: Record<string, string>) => {
    const said: unknown[] = [];
    const response = {
      writeHead: (...head: unknown[]) => said.push(...head),
      end: () => said.push("end"),
    } as unknown as ServerResponse;
    return [answerPreflight({ ...request(headers), method } as never, response), ...said];
  };

  it("are answered only if a page sends them [interfaces 7]", () => {
    expect(answerWith("GET", { origin: "http://localhost" })).toEqual([false]);
    expect(answerWith("OPTIONS", {})).toEqual([false]);
    expect(answerWith("OPTIONS", { origin: "http://localhost" })).toEqual([
      true,
      204,
      {
        "Access-Control-Allow-Origin": "http://localhost",
        "Access-Control-Expose-Headers": "Content-Disposition, Location, WWW-Authenticate",
        Vary: "Origin",
        "Access-Control-Allow-Methods": "GET, POST, PUT, PATCH, DELETE",
        "Access-Control-Allow-Headers": "Authorization, Content-Type, Last-Event-ID, X-Sandbox",
        "Access-Control-Max-Age": "600",
      },
      "end",
    ]);
  });
});
