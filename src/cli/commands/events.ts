import { findNearest } from "../../engine/contract/text.ts";
import { choice, command, flag } from "../command.ts";
import { UsageError } from "../failure.ts";
import { formatTable, printJson } from "../process.ts";

export const eventsCommand = command({
  command: "events [name]",
  describe: "Describe the webhook events, without a server",
  args: { name: "One event" },
  options: {
    schema: flag("JSON Schema of the payload"),
    sample: flag("A sample payload, always the same"),
    types: choice(["ts", "py"], "Types of the payloads, in TypeScript or Python"),
  },
  examples: [
    ["$0 events file.processed --sample", "What arrives"],
    ["$0 events --types ts > webhook-events.ts", "For a receiver"],
  ],
  async run({ name, schema, sample, types }) {
    if ([schema, sample, types !== undefined].filter(Boolean).length > 1)
      throw new UsageError("--schema, --sample and --types exclude each other");
    const { buildEventCatalogue, writeEventTypes } = await import("../../tools/reports/event-catalogue.ts");
    const { API } = await import("../../engine/resources/index.ts");
    const all = buildEventCatalogue(API.events);
    const selectedEvents = name === undefined ? all : all.filter((event) => event.name === name);
    if (selectedEvents.length === 0) throw toUnknownEvent(name!, all);
    const one = name === undefined ? undefined : selectedEvents[0];
    if (types !== undefined) {
      const source = writeEventTypes(selectedEvents, types as "ts" | "py");
      return { value: { types: source }, text: source };
    }
    if (schema || sample) {
      const getPart = (event: (typeof all)[number]) => (schema ? event.schema : event.sample);
      const value = one
        ? getPart(one)
        : Object.fromEntries(selectedEvents.map((event) => [event.name, getPart(event)]));
      return printJson(value);
    }
    if (one !== undefined) {
      const text = `${one.name}  ${one.summary} (section ${one.section})\n\n${JSON.stringify(one.sample, null, 2)}`;
      return { value: one, text };
    }
    const rows = selectedEvents.map((event) => [event.name, event.summary, event.fields.join(", ")]);
    return {
      value: { items: selectedEvents, total: selectedEvents.length },
      text: formatTable(["event", "meaning", "data"], rows),
    };
  },
});

function toUnknownEvent(name: string, all: readonly { name: string }[]): UsageError {
  const names = all.map((event) => event.name);
  const nearest = findNearest(name, names);
  const hint = nearest === undefined ? `Events are ${names.join(", ")}.` : `Did you mean "${nearest}"?`;
  return new UsageError(`"${name.slice(0, 80)}" is not an event of the service. ${hint}`);
}
