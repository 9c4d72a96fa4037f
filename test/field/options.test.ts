import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { runCommand } from "../support/run-understudy.ts";

interface Command {
  words: readonly string[];
  options: readonly { name: string; type: string; value: string; required: boolean }[];
}

/** The command, or its actions, with the options that the help lists. */
async function readCommands(words: readonly string[]): Promise<Command[]> {
  const { stdout } = await runCommand([...words, "--help"]);
  const line = new RegExp(`^ +understudy ${words.join(" ")} ?(\\w[\\w-]*)`, "gm");
  const [, listed = ""] = /^Commands:\n(.*?)\n\n/ms.exec(stdout) ?? [];
  const actions = [...new Set([...listed.matchAll(line)].map(([, name]) => name!))];
  if (actions.length > 0)
    return (await Promise.all(actions.map((one) => readCommands([...words, one])))).flat();
  const needed = [...stdout.split("\n")[0]!.matchAll(/<\w+/g)].map(() => "x");
  const [, listing = ""] = /^Options:\n(.*?)(?:\n\n|$(?![\s\S]))/ms.exec(stdout) ?? [];
  const options = listing.split(/\n(?= +--)/).flatMap((text) => {
    const [, name] = /^ +--([\w-]+)/.exec(text) ?? [];
    if (name === undefined || name === "help" || name === "version") return [];
    const type = /\[(number|boolean|array|string)\]/.exec(text)?.[1] ?? "choice";
    const choice = /\[choices:\s+"([^"]*)"/.exec(text)?.[1];
    const value = choice ?? (type === "number" ? "0" : "x");
    return { name, type, value, required: text.includes("[required]") };
  });
  return [{ words: [...words, ...needed], options }];
}

const COMMANDS = (
  await Promise.all(
    [...(await runCommand(["--help"])).stdout.matchAll(/^ +understudy (\w[\w-]*)/gm)]
      .map(([, name]) => name!)
      .filter((name, place, all) => name !== "completion" && all.indexOf(name) === place)
      .map((name) => readCommands([name])),
  )
).flat();

/** The command line with all required options except one. */
function omitOption({ words, options }: Command, name: string): string[] {
  const needed = options.filter((one) => one.required && one.name !== name);
  return [...words, ...needed.flatMap((one) => [`--${one.name}`, one.value])];
}

describe("a command line with a mistake", () => {
  it("is tested for every command", () => {
    expect(COMMANDS.length).toBeGreaterThan(45);
    expect(COMMANDS.flatMap(({ options }) => options).length).toBeGreaterThan(250);
  });

  it.each(COMMANDS)("is refused as wrong usage if $words has an option twice", async (command) => {
    for (const { name, type, value } of command.options) {
      if (type === "array") continue;
      const once = type === "boolean" ? [`--${name}`] : [`--${name}`, value];
      const { code, stderr } = await runCommand([...omitOption(command, name), ...once, ...once]);
      expect([code, stderr.split("\n")[0]]).toEqual([
        2,
        expect.stringMatching(new RegExp(`--${name} (is given more than once|needs --)`)),
      ]);
    }
  });

  const taking = COMMANDS.filter(({ options }) => options.some(({ type }) => type !== "boolean"));
  it.each(taking)("is refused as wrong usage if $words has an empty option", async (command) => {
    for (const { name, type } of command.options) {
      if (type === "boolean") continue;
      for (const empty of [[`--${name}`, ""], [`--${name}=`]]) {
        const { code, stderr } = await runCommand([...omitOption(command, name), ...empty]);
        expect([code, stderr]).toEqual([
          2,
          expect.stringMatching(new RegExp(`--${name} (is empty|takes |needs )`)),
        ]);
      }
    }
  });

  it.each([
    [["start", "--port", "0", "--port", "1"], "--port is given more than once"],
    [["start", "--port=0", "--port=1"], "--port is given more than once"],
    [["start", "--port", "   "], "--port is empty"],
    [["start", "--watch", "--no-watch"], "--watch is given more than once"],
    [["start", "--scenario=", "--port", "0"], "--scenario is empty"],
    [["start", "--json", "--json"], "--json is given more than once"],
    [["--port", "", "--port", "1"], "--port is given more than once"],
    [["suite", "x.yaml", "--jobs", "0", "--jobs", "2", "--", "true"], "--jobs is given more than once"],
  ])("is refused as wrong usage: %j", async (words, says) => {
    const { code, stderr } = await runCommand(words);
    expect([code, stderr]).toEqual([2, expect.stringContaining(says)]);
  });

  it.each([
    [["sandbox", "create"], "--setting", "preview=on", "preview=off"],
    [["trigger", "invoice.paid"], "--set", "amount=1", "amount=2"],
    [["fixture", "generate"], "--count", "users=1", "users=2"],
    [["receiver-test", "localhost:1", "--secret", "whsec_1"], "--data", "user_id=a", "user_id=b"],
  ])("is refused as wrong usage if %j has %s for one name twice", async (words, option, first, second) => {
    const { code, stderr } = await runCommand([...words, option, first, option, second]);
    const name = first.split("=")[0];
    expect([code, stderr]).toEqual([2, expect.stringContaining(`${option} names ${name} more than once`)]);
  });

  it.each([
    ["start", "--port=0", "--persist=~/worlds"],
    ["start", "--port=0", "--persist=~/world.json"],
    ["start", "--port=0", "--ready-file=~/ready.json"],
    ["fixture", "generate", "--out=~/world.yaml"],
    ["verify", "--target=localhost:1", "--key=ak_1", "--report=junit=~/report.xml"],
    ["record", "--target=localhost:1", "--out=~/traffic.har"],
  ])("is refused if a shell left its ~ as it is: %s %s %s", async (...words) => {
    const { code, stderr } = await runCommand(words);
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining("was not expanded by your shell; write the whole path"),
    ]);
    expect(existsSync("~")).toBe(false);
  });

  it("is not refused for options after two dashes, which belong to the command", async () => {
    const words = ["suite", "nowhere.yaml", "--", "true", "--jobs", "1", "--jobs", ""];
    expect((await runCommand(words)).stderr).toContain("nowhere.yaml");
  });
});
