import { spawn, spawnSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it, vi } from "vitest";
import { findProgram, hasRuntime } from "../../scripts/runtimes.mjs";
import { FAST_START } from "../support/docs/java-options.ts";
import { findFileName } from "../support/docs/page-script.ts";
import { findBlocks, findLinkedFiles, ROOT } from "../support/docs/pages.ts";
import { waitUntil } from "../support/eventually.ts";
import { freePort } from "../support/free-port.ts";
import { createTempFolder, removeTempFolders } from "../support/run-understudy.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

/* Runs the functions of the page that verify signatures, in each language, with genuine and forged deliveries. */

const PAGE = "docs/for-partners.md";
/** Languages in files that the page links to. */
const EXAMPLES = join(ROOT, "docs/examples/signatures");
const SECRET = "whsec_5f1e0c";
/** Contains characters beyond ASCII, so that functions that treat bytes as text fail. */
const BODY = Buffer.from('{"event":"user.created","delivery_id":"del_1","data":{"email":"zoë@acme.test"}}\n');
const GENUINE = `sha256=${createHmac("sha256", SECRET).update(BODY).digest("hex")}`;
const CASES: readonly [signature: string, genuine: boolean][] = [
  [GENUINE, true],
  [GENUINE.replace(/.$/, (digit) => (digit === "0" ? "1" : "0")), false],
  [GENUINE.slice("sha256=".length), false],
  [`sha256=${createHmac("sha256", "another").update(BODY).digest("hex")}`, false],
  [GENUINE.slice(0, -2), false],
  ["", false],
];

interface Language {
  file: string;
  needs: string;
  /** A program that reads `body` and prints yes or no for each signature in its arguments. */
  program: [file: string, code: string];
  run: (folder: string) => [command: string, ...args: string[]];
}

const LANGUAGES: Language[] = [
  {
    file: "verify.mjs",
    needs: "node",
    program: [
      "ask.mjs",
      `import { readFileSync } from "node:fs"; import { isGenuine } from "./verify.mjs";
for (const one of process.argv.slice(2)) console.log(isGenuine(readFileSync("body"), one, "${SECRET}") ? "yes" : "no");`,
    ],
    run: () => [process.execPath, "ask.mjs"],
  },
  {
    file: "verify.py",
    needs: "python3",
    program: [
      "ask.py",
      `import sys; from verify import is_genuine
for one in sys.argv[1:]: print("yes" if is_genuine(open("body", "rb").read(), one, "${SECRET}") else "no")`,
    ],
    run: () => ["python3", "ask.py"],
  },
  {
    file: "verify.php",
    needs: "php",
    program: [
      "ask.php",
      `<?php require "verify.php";
foreach (array_slice($argv, 1) as $one) echo isGenuine(file_get_contents("body"), $one, "${SECRET}") ? "yes\\n" : "no\\n";`,
    ],
    run: () => ["php", "ask.php"],
  },
  {
    file: "verify.go",
    needs: "go",
    program: [
      "ask.go",
      `package main
import ("fmt"; "os")
func main() {
  body, _ := os.ReadFile("body")
  for _, one := range os.Args[1:] { if isGenuine(body, one, "${SECRET}") { fmt.Println("yes") } else { fmt.Println("no") } }
}`,
    ],
    run: () => ["go", "run", "verify.go", "ask.go"],
  },
  {
    file: "Verify.java",
    needs: "javac and JUnit 5",
    program: [
      "Ask.java",
      `import java.nio.file.*;
final class Ask { public static void main(String[] all) throws Exception {
  for (String one : all) System.out.println(Verify.isGenuine(Files.readAllBytes(Path.of("body")), one, "${SECRET}") ? "yes" : "no");
} }`,
    ],
    run: (folder) => {
      const compiled = spawnSync(
        "javac",
        [...FAST_START.map((flag) => `-J${flag}`), "Verify.java", "Ask.java"],
        {
          cwd: folder,
          encoding: "utf8",
        },
      );
      expect(compiled.stderr).toBe("");
      return ["java", ...FAST_START, "-cp", ".", "Ask"];
    },
  },
  {
    file: "verify.rb",
    needs: "ruby -r webrick",
    program: [
      "ask.rb",
      `require "./verify"; ARGV.each { |one| puts genuine?(File.binread("body"), one, "${SECRET}") ? "yes" : "no" }`,
    ],
    run: () => ["ruby", "ask.rb"],
  },
];

afterAll(removeTempFolders);

describe("signatures as the guide for partners verifies them [6.3]", () => {
  const shown = new Map(findBlocks(PAGE).map((block) => [findFileName(block), block.code]));
  for (const file of readdirSync(EXAMPLES)) shown.set(file, readFileSync(join(EXAMPLES, file), "utf8"));

  it("are shown in each language tested here, and in no other [6.3]", () => {
    const files = [...shown.keys()].filter((file) => file !== undefined);
    expect(files.sort()).toEqual(LANGUAGES.map(({ file }) => file).sort());
    expect(findLinkedFiles(PAGE)).toEqual(
      expect.arrayContaining(readdirSync(EXAMPLES).map((file) => `docs/examples/signatures/${file}`)),
    );
  });

  it.for(LANGUAGES)(
    "distinguish genuine from forged in $file [6.3]",
    ({ file, needs, program, run }, { skip }) => {
      if (!hasRuntime(needs)) skip(`${needs} is not installed`);
      const folder = createTempFolder();
      writeFileSync(join(folder, "body"), BODY);
      writeFileSync(join(folder, file), shown.get(file)!);
      writeFileSync(join(folder, program[0]), program[1]);
      const [command, ...args] = run(folder);
      const env = { ...process.env, GO111MODULE: "off", GOFLAGS: "-buildvcs=false" };
      const signatures = CASES.map(([signature]) => signature);
      const asked = spawnSync(command, [...args, ...signatures], { cwd: folder, encoding: "utf8", env });
      expect(asked.stderr).toBe("");
      expect(asked.stdout.trim().split("\n")).toEqual(CASES.map(([, genuine]) => (genuine ? "yes" : "no")));
    },
  );
});

interface Framework {
  file: string;
  needs: string;
  /** The command that starts it, unless that is its runtime and file. May compile it first. */
  start?: (folder: string) => [command: string, ...args: string[]];
}

/** Replaces ASP.NET Core, on Mono, since Debian has no .NET. */
const ASP_NET = join(ROOT, "test/support/receivers/asp-net/AspNetCore.cs");

const FRAMEWORKS: Framework[] = [
  { file: "express-receiver.mjs", needs: "node" },
  { file: "fastify-receiver.mjs", needs: "node" },
  { file: "flask_receiver.py", needs: "python3 -c 'import flask'" },
  { file: "fastapi_receiver.py", needs: "python3 -c 'import fastapi, uvicorn'" },
  { file: "django_receiver.py", needs: "python3 -c 'import django'" },
  {
    file: "Receiver.cs",
    needs: "mcs",
    start(folder) {
      const compiled = spawnSync("mcs", ["-warnaserror", "-out:receiver.exe", "Receiver.cs", ASP_NET], {
        cwd: folder,
        encoding: "utf8",
      });
      expect(compiled.stderr + compiled.stdout).toBe("");
      return ["mono", "receiver.exe"];
    },
  },
];

describe("signatures in frameworks [6.3]", () => {
  const shown = new Map(findBlocks("docs/signatures.md").map((block) => [findFileName(block), block.code]));

  it("are shown for each framework tested here, and for no other [6.3, interfaces 14]", () => {
    const files = [...shown.keys()].filter((file) => file !== undefined);
    expect(files.sort()).toEqual(FRAMEWORKS.map(({ file }) => file).sort());
  });

  it.for(FRAMEWORKS)(
    "are accepted if genuine, and refused otherwise, in $file [6.3, interfaces 14]",
    async ({ file, needs, start }, { skip }) => {
      const runtime = findProgram(needs);
      if (runtime === undefined) return skip(`${needs} is not installed`);
      const folder = createTempFolder();
      symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
      writeFileSync(join(folder, file), shown.get(file)!);
      for (const helper of findBlocks(PAGE).filter((block) =>
        /^verify\.(mjs|py)$/.test(findFileName(block) ?? ""),
      )) {
        writeFileSync(join(folder, findFileName(helper)!), helper.code);
      }
      const port = String(await freePort());
      const env = { ...process.env, PORT: port, WEBHOOK_SECRET: SECRET, PYTHONDONTWRITEBYTECODE: "1" };
      const [command, ...args] = start?.(folder) ?? [runtime, file];
      const receiver = spawn(command, args, { cwd: folder, env, stdio: "ignore" });
      try {
        const url = `http://127.0.0.1:${port}/webhook`;
        await waitUntil(() =>
          fetch(url).then(
            () => true,
            () => false,
          ),
        );
        const statuses: number[] = [];
        for (const [signature] of CASES) {
          const headers = { "content-type": "application/json", "x-service-signature": signature };
          statuses.push((await fetch(url, { method: "POST", headers, body: BODY })).status);
        }
        expect(statuses).toEqual(CASES.map(([, genuine]) => (genuine ? 204 : 401)));
      } finally {
        receiver.kill("SIGKILL");
      }
    },
  );
});

describe("the sample receivers [6.3]", () => {
  it.for([
    ["node", "node/receiver.mjs"],
    ["python3", "python/receiver.py"],
  ])(
    "print no line per delivery into the report of a test: %s [interfaces 14]",
    async ([needs, file], { skip }) => {
      if (!hasRuntime(needs!)) skip(`${needs} is not installed`);
      const env = { ...process.env, PORT: "0", WEBHOOK_SECRET: SECRET };
      const receiver = spawn(needs!, [join(ROOT, "docs/receivers", file!)], { env });
      let printed = "";
      for (const stream of [receiver.stdout, receiver.stderr]) stream.on("data", (text) => (printed += text));
      await waitUntil(() => printed.includes("listening on "));
      const url = printed.trim().replace("listening on ", "");
      await fetch(url, { method: "POST", headers: { "x-service-signature": GENUINE }, body: BODY });
      const closed = new Promise((resolve) => receiver.once("close", resolve));
      receiver.kill("SIGKILL");
      await closed;
      expect(printed).toBe(`listening on ${url}\n`);
    },
  );
});
