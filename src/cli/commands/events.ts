import type { CommandModule } from "yargs";
import { nearest } from "../../engine/contract/text.ts";
import { UsageError } from "../failure.ts";
import { print, table } from "../output.ts";

interface Options {
  name: string | undefined;
  schema: boolean;
  sample: boolean;
  types: "ts" | "py" | undefined;
  json: boolean;
}

export const eventsCommand: CommandModule<object, Options> = {
  command: "events [name]",
  describe: "What webhooks are sent: the catalogue of events, without a server",
  builder: (argv) =>
    argv
      .positional("name", { type: "string", describe: "One of them" })
      .option("schema", { type: "boolean", default: false, describe: "JSON Schema of the payload" })
      .option("sample", { type: "boolean", default: false, describe: "A payload, always the same one" })
      .option("types", { choices: ["ts", "py"], describe: "Types of the payloads, in TypeScript or Python" })
      .example("$0 events file.processed --sample", "What arrives")
      .example("$0 events --types ts > webhook-events.ts", "For a receiver") as never,
  async handler({ name, schema, sample, types, json }) {
    if ([schema, sample, types !== undefined].filter(Boolean).length > 1)
      throw new UsageError("--schema, --sample and --types exclude each other");
    const [{ eventCatalogue, eventTypes }, { API }] = await Promise.all([
      import("../../tools/reports/index.ts"),
      import("../../engine/resources/index.ts"),
    ]);
    const all = eventCatalogue(API.events);
    const chosen = name === undefined ? all : all.filter((event) => event.name === name);
    if (chosen.length === 0) throw unknown(name!, all);
    const one = name === undefined ? undefined : chosen[0];
    if (types !== undefined)
      return print(json, { types: eventTypes(chosen, types) }, eventTypes(chosen, types));
    if (schema || sample) {
      const part = (event: (typeof all)[number]) => (schema ? event.schema : event.sample);
      const value = one ? part(one) : Object.fromEntries(chosen.map((event) => [event.name, part(event)]));
      return print(true, value, "");
    }
    if (one !== undefined)
      return print(
        json,
        one,
        `${one.name}  ${one.summary} (section ${one.section})\n\n${JSON.stringify(one.sample, null, 2)}`,
      );
    const rows = chosen.map((event) => [event.name, event.summary, event.fields.join(", ")]);
    print(json, { items: chosen, total: chosen.length }, table(["event", "tells that", "data"], rows));
  },
};

function unknown(name: string, all: readonly { name: string }[]): UsageError {
  const names = all.map((event) => event.name);
  const meant = nearest(name, names);
  const hint = meant === undefined ? `There are ${names.join(", ")}.` : `Did you mean "${meant}"?`;
  return new UsageError(`"${name.slice(0, 80)}" is no event of the service. ${hint}`);
}
