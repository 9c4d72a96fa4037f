import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { PROJECT_FOLDER } from "../../documents/shipped-files.ts";
import { command, flag } from "../command.ts";
import { writeNewFile } from "../write-files.ts";
import { readConsole } from "./worker-file.ts";

/**
 * Its content security policy lets the page send nothing to other sites, and allows `eval`, since the engine compiles
 * schemas.
 */
const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'self' 'unsafe-eval'; style-src 'self'; connect-src 'self'; frame-src 'self'; worker-src 'self'">
<title>Understudy viewer</title>
<link rel="stylesheet" href="viewer.css">
<main id="start">
<h1>Understudy viewer</h1>
<p>Drop a file of <code>understudy sandbox export</code> or of a failed test here, or choose one. It is opened in this page; nothing is sent anywhere.</p>
<p><label>File <input id="file" type="file" accept=".understudy"></label></p>
<p id="problem" role="status"></p>
</main>
<iframe id="console" title="Console" hidden></iframe>
<script type="module" src="understudy/viewer.js"></script>
</html>
`;
const STYLE = `html { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
body { margin: 0 }
main { max-width: 40rem; margin: 15vh auto; padding: 0 1rem }
iframe { border: 0; width: 100%; height: 100vh; display: block }
[hidden] { display: none }
`;

export const viewerCommand = command({
  command: "viewer <dir>",
  describe: "Write a static site in which users open exported sandboxes",
  args: { dir: "A new folder, to be served as it is, under any path" },
  options: { force: flag("Replace files, as after an update of the package") },
  examples: [["$0 viewer viewer && npx serve viewer", "Drop a file of `sandbox export` onto it"]],
  async run({ dir, force }) {
    const browser = join(PROJECT_FOLDER, "dist/browser");
    const write = (name: string, content: string | Uint8Array) =>
      writeNewFile(join(dir, name), content, { force });
    write("index.html", PAGE);
    write("viewer.css", STYLE);
    for (const name of readdirSync(browser).filter((one) => one.endsWith(".js"))) {
      const path = name === "understudy-worker.js" ? name : join("understudy", name);
      write(path, readFileSync(join(browser, name)));
    }
    for (const [path, bytes] of readConsole()) write(path, bytes);
    return {
      value: { folder: dir },
      text: `Wrote the viewer to ${dir}. Serve the folder, under any path.`,
    };
  },
});
