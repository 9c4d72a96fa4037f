import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { waitUntil } from "./eventually.ts";
import { freePort } from "./free-port.ts";

/** Whether nginx is installed (scripts/runtimes.mjs). */
export const hasNginx = spawnSync("nginx", ["-v"], { stdio: "ignore" }).status === 0;
export const NO_NGINX = "nginx is not installed";

const EXAMPLE = "docs/examples/fleet/nginx.conf";

/** Returns the errors that `nginx -t` reports for the example configuration; empty if it is valid. */
export function checkNginxExample(): string {
  const folder = mkdtempSync(join(tmpdir(), "understudy-nginx-"));
  const file = join(folder, "nginx.conf");
  writeFileSync(file, `pid ${folder}/pid;\nerror_log stderr;\n${readFileSync(EXAMPLE, "utf8")}`);
  const { status, stderr } = spawnSync("nginx", ["-t", "-c", file], { encoding: "utf8" });
  rmSync(folder, { recursive: true, force: true });
  return status === 0 ? "" : stderr;
}

/** nginx with the example configuration, on a free port, in front of given nodes. */
export class TestNginx {
  readonly url: string;
  private readonly folder: string;
  private readonly child: ChildProcess;

  private constructor(url: string, folder: string, child: ChildProcess) {
    this.url = url;
    this.folder = folder;
    this.child = child;
  }

  static async start(nodes: readonly string[]): Promise<TestNginx> {
    const port = await freePort();
    const folder = mkdtempSync(join(tmpdir(), "understudy-nginx-"));
    const example = readFileSync(EXAMPLE, "utf8");
    const server = /^( *server )[\d.]+:\d+( max_fails.*)$/gm;
    const [, before, behind] = server.exec(example)!;
    const servers = nodes.map((url) => `${before}${new URL(url).host}${behind}`).join("\n");
    const text = example
      .replace(/(^ *server [\d.]+:\d+ max_fails.*\n)+/m, `${servers}\n`)
      .replace("listen 8080", `listen 127.0.0.1:${port}`)
      .replace(
        "http {",
        `http {\naccess_log off;\nclient_body_temp_path ${folder}/body;\nproxy_temp_path ${folder}/proxy;`,
      );
    const file = join(folder, "nginx.conf");
    writeFileSync(
      file,
      `daemon off;\nmaster_process off;\npid ${folder}/pid;\nerror_log ${folder}/error.log;\n${text}`,
    );
    const child = spawn("nginx", ["-c", file], { stdio: "ignore" });
    const url = `http://127.0.0.1:${port}`;
    await waitUntil(async () => {
      if (child.exitCode !== null) throw new Error(readFileSync(`${folder}/error.log`, "utf8"));
      return fetch(`${url}/_control/health`).then(
        () => true,
        () => false,
      );
    });
    return new TestNginx(url, folder, child);
  }

  async remove(): Promise<void> {
    const exited = new Promise((resolve) => this.child.once("exit", resolve));
    if (this.child.kill("SIGKILL")) await exited;
    rmSync(this.folder, { recursive: true, force: true });
  }
}
