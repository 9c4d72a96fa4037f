import type { CataloguedEvent } from "../../src/tools/reports/event-catalogue.ts";

/** The catalogue as a page of the documentation; events with the same fields share a row. */
export function renderEventsPage(events: readonly CataloguedEvent[]): string {
  const groups: CataloguedEvent[][] = [];
  for (const event of events) {
    const last = groups.at(-1);
    if (last?.[0]?.fields.join() === event.fields.join()) last.push(event);
    else groups.push([event]);
  }
  const rows = groups.map((group) => {
    const names = group.map(({ name }) => `\`${name}\``).join(", ");
    return `| ${names} | ${group[0]!.fields.map((field) => `\`${field}\``).join(", ")} |`;
  });
  return `# Events

<!-- generated from the declarations by npm run generate -->

Webhooks receive these events ([6.1](reference/service-api.md#6.1); [G25](reference/assumptions.md#G25) says when, if it is not obvious).
\`understudy events NAME --schema\` prints the JSON Schema of one, \`--sample\` a sample, and \`understudy events --types ts\` (or \`py\`) types of all.
[Webhooks](webhooks.md#what-is-sent) shows their form and how they are sent, [Signatures](signatures.md) how you verify them.

| event | data |
|---|---|
${rows.join("\n")}
`;
}
