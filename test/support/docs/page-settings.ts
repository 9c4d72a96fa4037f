import { findBlocks } from "./pages.ts";

/** Settings that the examples of a page need to run unchanged. */
export interface PageSettings {
  /** Whether the page starts its server or needs none. */
  ownServer?: boolean;
  /** Shell commands before the first block: prerequisites of the page. */
  before?: string;
  /** Shell commands after the last block: checks of what the page created. */
  after?: string;
  /** Placeholders of the page, and values for them. */
  replace?: Readonly<Record<string, string>>;
  /** Whether the page says to run all tests that Vitest finds; the examples are then not run one by one. */
  testsTogether?: boolean;
  /** Parts of blocks that other tests run; a comment names the test. */
  skippedBlocks?: readonly string[];
  /** Exit codes of commands that must fail, by command without `npx`. */
  exitCodes?: Readonly<Record<string, number>>;
  /** Output that the page promises and that is not implied by success. */
  expectedOutput?: readonly RegExp[];
  /** Errors that the page shows on purpose. */
  shownErrors?: readonly string[];
  /** Programs that the page's examples need, by their names in scripts/runtimes.mjs. */
  needs?: readonly string[];
  /** Whether the examples open a browser. */
  browser?: boolean;
}

const DAN = "ak_danMemberAcme00000000000000000000000000";
const ADA = "ak_adaOwnerAcme000000000000000000000000000";
const SECRET = "whsec_0123456789abcdef";
const DOCS = "node_modules/understudy-sandbox/docs";
/** Records one exchange. The file is written after the client has the response, so the script waits for it. */
const RECORDED = `npx understudy record --target http://127.0.0.1:4747 --out traffic.har
curl -s -o models.json -H 'api-key: ${DAN}' http://127.0.0.1:4749/v1/models
until grep -q /v1/models traffic.har; do sleep 0.1; done`;

/** Starts the sample receiver on the documented port and waits until it listens. */
const RECEIVER = `PORT=3000 WEBHOOK_SECRET=${SECRET} node ${DOCS}/receivers/node/receiver.mjs > receiver.log 2>&1 &
until curl -s -o probe.json http://127.0.0.1:3000/processed; do sleep 0.1; done`;

/** Settings of pages that need more than a running server. */
export const PAGE_SETTINGS: Readonly<Record<string, PageSettings>> = {
  "README.md": { skippedBlocks: ["npm ci && npm start", "npm ci && npm test"], expectedOutput: [/1 passed/] },
  "docs/for-frontends.md": {
    ownServer: true,
    browser: true,
    expectedOutput: [/Tests +1 passed/, /1 passed \(/],
  },
  "docs/for-partners.md": {
    ownServer: true,
    expectedOutput: [/(webhook\.retry .* 503\n[\s\S]*?){4}/, /webhook\.retry .* 200\n/, /^\["del_[^"]+"\]/m],
  },
  "docs/for-testers.md": {
    ownServer: true,
    needs: ["python3 -c 'import pytest'", "javac and JUnit 5"],
    expectedOutput: [/^2 passed/m, /2 tests successful/, /ok +busy +0 +1\/1 +1\/1 +3/, /^1 passed/m],
  },
  "docs/getting-started.md": { ownServer: true, expectedOutput: [/pass 1/] },
  "docs/client-test.md": { ownServer: true, expectedOutput: [/^PASS /m, /Tests +1 passed/] },
  "docs/own-operations.md": { ownServer: true, expectedOutput: [/"text":"Buy milk"/, /1 passed/] },
  "docs/without-a-server.md": {
    ownServer: true,
    // test/browser/page-sandbox.test.ts runs this block.
    skippedBlocks: ["understudy-sandbox/browser"],
    expectedOutput: [/^200\n429$/m],
    after: `cat > route.mjs <<'END'
const { GET } = await import("./api-route.mjs");
const response = await GET(new Request("http://127.0.0.1/api/v1/models", { headers: { "api-key": "${DAN}" } }));
if (response.status !== 200) process.exit(1);
END
cp 'app/api/[...path]/route.ts' api-route.mjs
node route.mjs`,
  },
  "docs/pipelines.md": { ownServer: true },
  "docs/signatures.md": {
    ownServer: true,
    before: `cat > verify.mjs <<'END'\n${findBlocks("docs/for-partners.md").find((block) => block.code.startsWith("// verify.mjs"))!.code}END`,
    expectedOutput: [/signature-missing/, /3 passed, 0 failed/],
  },
  "docs/cli.md": {
    before: `mkdir -p worlds scenarios && echo 'extends: reference' > worlds/mine.yaml`,
    replace: { "/tmp/understudy.json": "understudy.json" },
  },
  "docs/fixtures.md": { ownServer: true },
  "docs/helpers.md": {
    ownServer: true,
    after: "npx vitest run .test.ts",
    testsTogether: true,
    expectedOutput: [/Tests +2 passed \(2\)/],
  },
  "docs/history.md": {
    before: `for parent in dept_ops dept_eng; do
  curl -s -o moved.json -X POST -H 'api-key: ${ADA}' -H 'content-type: application/json' \\
    -d "{\\"new_parent_id\\":\\"$parent\\"}" http://127.0.0.1:4747/v1/organizations/org_acme/departments/dept_platform/reparent
done
ENTRY=$(curl -s 'http://127.0.0.1:4747/_control/sandboxes/default/history?kind=request&limit=1' |
  node -pe 'JSON.parse(fs.readFileSync(0)).entries[0].id')`,
    replace: { h_12: "$ENTRY" },
  },
  "docs/receivers/README.md": { ownServer: true, expectedOutput: [/46 passed, 0 failed/] },
  "docs/scenarios.md": {
    before: `cat > uploads.spec.ts <<'END'
import { execFileSync } from "node:child_process";
import { test } from "@playwright/test";
test("uploads a report", () => {
  execFileSync("node", ["${DOCS}/examples/report-uploader/check.mjs"], { stdio: "inherit" });
});
END`,
    expectedOutput: [/429 429 200/, /^503$/m, /"nearest":\[/],
  },
  "docs/traffic.md": {
    replace: {
      "https://api.example.com": "http://127.0.0.1:4747",
      "--out traffic.har\n": `--out traffic.har\ncurl -s -H 'api-key: ${DAN}' http://127.0.0.1:4749/v1/models\n`,
    },
  },
  "docs/verify.md": {
    before: `${RECORDED}
cp ${DOCS}/examples/issue-tracker/openapi.yaml tags.openapi.yaml
node -p 'JSON.stringify({ openapi: fs.readFileSync("tags.openapi.yaml", "utf8") })' > tags.json
curl -sf -o served.json -X PUT -H 'content-type: application/json' -d @tags.json http://127.0.0.1:4747/_control/sandboxes/default/operations`,
  },
  "docs/webhooks.md": {
    before: `${RECEIVER}
export WEBHOOK_SECRET=${SECRET}
printf '{"event":"user.created"}' > delivery.json
DIGEST=sha256=$(node -pe 'crypto.createHmac("sha256", "${SECRET}").update(fs.readFileSync("delivery.json")).digest("hex")')`,
    replace: { "whsec_…": SECRET, "sha256=…": "$DIGEST" },
    exitCodes: { "understudy deliveries redeliver --all-failed": 1 },
    expectedOutput: [
      /webhook\.retry .* 503\n/,
      /webhook\.retry .* 200\n/,
      /"verdict":"valid"/,
      /0 of 1 were delivered/,
    ],
  },
};

export const getPageSettings = (page: string): PageSettings => PAGE_SETTINGS[page] ?? {};
