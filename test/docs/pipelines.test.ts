import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { validateAction, validateWorkflow } from "@action-validator/core";
import { validate } from "dockerfile-utils";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import { parse } from "yaml";
import { createExampleProject, type ExampleProject } from "../support/docs/example-project.ts";
import { findFileName } from "../support/docs/page-script.ts";
import { findBlocks, ROOT } from "../support/docs/pages.ts";
import { hasCurl } from "../support/docs/tool-stubs.ts";
import { removeTempFolders } from "../support/run-understudy.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

/*
 * The pipelines of docs/pipelines.md: GitHub's workflows must fit their published schema, and the commands of all
 * pipelines are run here in a project that meets the page's prerequisites.
 */

const EXAMPLES = join(ROOT, "docs/examples");
const blocks = findBlocks("docs/pipelines.md");
const findFile = (name: string) => blocks.find((block) => findFileName(block) === name)!.code;
const WORKFLOWS = blocks.map(findFileName).filter((name) => name?.startsWith(".github/workflows/"));
/** A reader's test, which fails under the scenario. */
const TEST = `import { expect, it } from "vitest";
const base = process.env.UNDERSTUDY_BASE_URL;
it.runIf(base)("lists the models", async () => {
  const answer = await fetch(base + "/v1/models", { headers: { "api-key": "ak_danMemberAcme00000000000000000000000000" } });
  expect(answer.status).toBe(200);
});
it("has no other test", () => {});
`;

interface Step {
  run?: string;
}
interface Workflow {
  jobs: Record<string, { env?: Record<string, string>; steps: Step[] }>;
}

let project: ExampleProject | undefined;
afterEach(() => project?.close());
afterAll(removeTempFolders);

async function createPipelineProject(): Promise<ExampleProject> {
  project = await createExampleProject();
  const { folder } = project;
  const scripts = parse(blocks.find(({ kind }) => kind === "json")!.code);
  const described = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ ...described, ...scripts }));
  writeFileSync(join(folder, "models.test.js"), TEST);
  const scenario = findFile("scenarios/models-are-slow.yaml");
  const { code, stderr } = await project.run(
    `mkdir scenarios && cat > scenarios/models-are-slow.yaml <<'END'\n${scenario}END`,
  );
  expect([code, stderr]).toEqual([0, ""]);
  return project;
}

async function runSuccessfully(on: ExampleProject, lines: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await on.run(on.replacePorts(lines.join("\n")));
  expect({ code, output: code === 0 ? "" : stdout + stderr }).toEqual({ code: 0, output: "" });
  return stdout;
}

describe("a pipeline in the docs [interfaces 13]", () => {
  it("fits the schema of GitHub's workflows, which refuses a misspelt one [interfaces 13]", () => {
    expect(WORKFLOWS.length).toBe(2);
    for (const name of WORKFLOWS) expect(validateWorkflow(findFile(name!)).errors, name).toEqual([]);
    const misspelt = findFile(WORKFLOWS[0]!).replace("runs-on", "run-on");
    expect(validateWorkflow(misspelt).errors).not.toEqual([]);
  });

  it("is valid if it runs the matrix, and its commands exist [interfaces 16]", () => {
    const workflow = readFileSync(join(EXAMPLES, "github/matrix.yml"), "utf8");
    expect(validateWorkflow(workflow).errors).toEqual([]);
    const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
    const commands = (parse(workflow) as Workflow).jobs["matrix"]!.steps.flatMap(({ run = [] }) => run);
    expect(commands).toContain("npm run matrix");
    for (const command of commands) {
      const [tool, first, name] = command.split(" ");
      if (tool === "node") expect(existsSync(join(ROOT, first!)), command).toBe(true);
      else if (first === "run") expect(Object.keys(scripts)).toContain(name);
      else expect(command).toBe("npm ci");
    }
  });

  it("is valid as an action and a template, and its commands run [interfaces 13]", async () => {
    const action = readFileSync(join(EXAMPLES, "github/action.yml"), "utf8");
    expect(validateAction(action).errors).toEqual([]);
    expect(validateAction(action.replace("composite", "compound")).errors).not.toEqual([]);
    const [suite] = parse(action).runs.steps;
    expect(Object.keys(suite.env).map((name) => suite.env[name])).toEqual(
      ["command", "scenarios", "jobs"].map((name) => `\${{ inputs.${name} }}`),
    );
    const template = parse(readFileSync(join(EXAMPLES, "gitlab/understudy.gitlab-ci.yml"), "utf8"));
    const job = template[".understudy-suite"];
    const on = await createPipelineProject();
    const runIn = async (lines: string, command: string) => {
      const settings = `export COMMAND=${JSON.stringify(command)} SCENARIOS='scenarios/*.yaml' JOBS=2\n`;
      return (await on.run(on.replacePorts(settings + lines))).code;
    };
    for (const lines of [suite.run, job.script.at(-1)]) {
      expect(await runIn(lines, "npx vitest run")).toBe(0);
      for (const file of ["suite.xml", "suite.html"])
        expect(existsSync(join(on.folder, file)), file).toBe(true);
    }
  });

  it("has keys that GitLab knows [interfaces 13]", () => {
    const { test: job } = parse(findFile(".gitlab-ci.yml"));
    expect(Object.keys(job).sort()).toEqual(["artifacts", "cache", "image", "script"]);
  });

  it("runs for GitHub and GitLab, and writes the reports that it uploads [interfaces 13]", async ({
    skip,
  }) => {
    if (!hasCurl()) skip("curl is not installed");
    const { jobs } = parse(findFile(".github/workflows/test.yml")) as Workflow;
    const { test: job } = parse(findFile(".gitlab-ci.yml"));
    const on = await createPipelineProject();
    // Lines that both pipelines contain run once, since the project is the same.
    await runSuccessfully(on, [
      ...new Set([...jobs["test"]!.steps.flatMap(({ run }) => run ?? []), ...job.script]),
    ]);
    const uploaded = [...job.artifacts.paths, job.artifacts.reports.junit];
    for (const report of ["suite.xml", "suite.html", "coverage.html", ...uploaded])
      expect(existsSync(join(on.folder, report)), report).toBe(true);
    expect(readFileSync(join(on.folder, "suite.xml"), "utf8")).toContain('tests="1"');
  });

  it("has in Compose an image without findings of a linter, and a health check that works [interfaces 13]", async ({
    skip,
  }) => {
    if (!hasCurl()) skip("curl is not installed");
    const { understudy } = parse(findFile("compose.yaml")).services;
    expect(validate(understudy.build.dockerfile_inline)).toEqual([]);
    const on = await createPipelineProject();
    const [, ...probe] = understudy.healthcheck.test as string[];
    const check = probe.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
    const start = "UNDERSTUDY_TOKEN=choose-something-long npx understudy start --shared --host 0.0.0.0";
    const token = "export UNDERSTUDY_TOKEN=choose-something-long";
    await runSuccessfully(on, [
      start,
      token,
      check,
      'kill "$(cat .server-pid)"',
      `if ${check}; then exit 1; fi`,
    ]);
  });

  it("grades a receiver and reports on it [interfaces 13]", {
    timeout: 180_000,
  }, async ({ skip }) => {
    if (!hasCurl()) skip("curl is not installed");
    const { jobs } = parse(findFile(".github/workflows/receiver.yml")) as Workflow;
    const { env = {}, steps } = jobs["grade"]!;
    const on = await createPipelineProject();
    const variables = Object.entries(env).map(([name, value]) => `export ${name}='${value}'`);
    const sample = "cp node_modules/understudy-sandbox/docs/receivers/node/receiver.mjs .";
    await runSuccessfully(on, [...variables, sample, ...steps.flatMap(({ run }) => run ?? [])]);
    expect(readFileSync(join(on.folder, "receiver.xml"), "utf8")).toContain('failures="0"');
  });
});
