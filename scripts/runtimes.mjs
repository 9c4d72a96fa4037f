// Provides the languages of the grader's sample receivers and of the documentation's examples, and Redis and nginx for a
// fleet: installed ones, else Debian's packages. Never fails the run, which lists at its end the tests that could not
// run, with the reason.

import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { installFromDebian } from "./debian.mjs";

/** By the name that a receiver or an example gives: the command that shows whether it is installed, and its packages. */
const RUNTIMES = {
  node: { probe: [process.execPath, ["--version"]], packages: [] },
  python3: { probe: ["python3", ["--version"]], packages: ["python3"] },
  perl: { probe: ["perl", ["-MJSON::PP", "-MDigest::SHA", "-e", "1"]], packages: ["perl"] },
  java: { probe: ["java", ["-version"]], packages: ["default-jdk-headless"] },
  go: { probe: ["go", ["version"]], packages: ["golang-go"] },
  php: { probe: ["php", ["--version"]], packages: ["php-cli"] },
  "ruby -r webrick": { probe: ["ruby", ["-r", "webrick", "-e", "1"]], packages: ["ruby", "ruby-webrick"] },
  "python3 -c 'import flask'": { probe: ["python3", ["-c", "import flask"]], packages: ["python3-flask"] },
  "python3 -c 'import requests'": {
    probe: ["python3", ["-c", "import requests"]],
    packages: ["python3-requests"],
  },
  "php with curl": {
    probe: ["php", ["-r", "exit((int) !function_exists('curl_init'));"]],
    packages: ["php-cli", "php-curl"],
  },
  "python3 -c 'import pydantic'": {
    probe: ["python3", ["-c", "import pydantic"]],
    packages: ["python3-pydantic"],
  },
  "python3 -c 'import pytest'": { probe: ["python3", ["-c", "import pytest"]], packages: ["python3-pytest"] },
  "python3 -c 'import fastapi, uvicorn'": {
    probe: ["python3", ["-c", "import fastapi, uvicorn"]],
    packages: ["python3-fastapi", "python3-uvicorn"],
  },
  "python3 -c 'import django'": {
    probe: ["python3", ["-c", "import django"]],
    packages: ["python3-django"],
  },
  mcs: { probe: ["mcs", ["--version"]], packages: ["mono-mcs"] },
  "javac and JUnit 5": {
    probe: ["sh", ["-c", "javac -version && test -f /usr/share/java/junit-platform-console.jar"]],
    packages: ["default-jdk-headless", "junit5"],
  },
  "redis-server": { probe: ["redis-server", ["--version"]], packages: ["redis-server"] },
  nginx: { probe: ["nginx", ["-v"]], packages: ["nginx-light"] },
  xmllint: { probe: ["xmllint", ["--version"]], packages: ["libxml2-utils"] },
};

/** The program that passes the probe: Debian's Python may have packages that the first Python in PATH lacks. */
export function findProgram(name) {
  const [command, args] = RUNTIMES[name].probe;
  const candidates = command === "python3" ? [command, "/usr/bin/python3"] : [command];
  return candidates.find((candidate) => spawnSync(candidate, args, { stdio: "ignore" }).status === 0);
}

/** Whether its command in PATH passes the probe. */
export function hasRuntime(name) {
  const [command] = RUNTIMES[name].probe;
  return findProgram(name) === command;
}

function provideRuntimes() {
  const missing = Object.keys(RUNTIMES).filter(
    (name) => RUNTIMES[name].packages.length > 0 && findProgram(name) === undefined,
  );
  for (const name of missing) {
    const { packages } = RUNTIMES[name];
    const failure = installFromDebian(packages);
    const report = findProgram(name)
      ? `installed Debian's ${packages.join(" ")} for the sample receivers, examples and fleets`
      : `${name} cannot be installed (${failure ?? "installed, but it does not start"}); the tests that need it will not run`;
    process.stdout.write(`runtimes: ${report}\n`);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) provideRuntimes();
