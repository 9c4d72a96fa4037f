import { type Static, Type } from "typebox";
import { ASSUMPTIONS } from "../../engine/contract/assumptions/index.ts";
import { type AnyOperation, listErrorCodes } from "../../engine/contract/operation.ts";
import {
  type AssumedPart,
  findEndpointAssumption,
  listAssumedParts,
} from "../../engine/contract/provenance.ts";
import { ClosedObject, StringEnum } from "../../engine/contract/schema.ts";
import { listSettings } from "../../engine/contract/settings.ts";
import { getOrAdd } from "../../engine/maps.ts";

const Texts = Type.Array(Type.String());

export const FidelityLedger = ClosedObject(
  {
    operations: Type.Array(
      ClosedObject({
        id: Type.String(),
        section: Type.String(),
        method: Type.String(),
        path: Type.String(),
        provenance: StringEnum(["specified", "assumed", "own"], {
          description: "`assumed` if the reference shows no such endpoint, `own` if a user declares it",
        }),
        assumptions: Type.Array(Type.String(), { description: "Assumptions about the operation" }),
        assumed: Type.Array(ClosedObject({ part: Type.String(), assumption: Type.String() }), {
          description: "The parts that the reference does not show",
        }),
        error_codes: Texts,
      }),
    ),
    assumptions: Type.Array(
      ClosedObject({
        id: Type.String(),
        topic: Type.String({ description: "The gap in the reference" }),
        chosen: Type.String({ description: "What Understudy does" }),
        settings: Texts,
        operations: Texts,
      }),
    ),
  },
  {
    $id: "FidelityLedger",
    examples: [
      {
        operations: [],
        assumptions: [
          { id: "G07", topic: "Rate headers", chosen: "Both.", settings: ["rate_headers"], operations: [] },
        ],
      },
    ],
  },
);
export type FidelityLedger = Static<typeof FidelityLedger>;

/** The specified and assumed parts of each operation, computed from the declarations. */
export function buildFidelityLedger(operations: readonly AnyOperation[]): FidelityLedger {
  return {
    operations: operations.map((operation) => ({
      id: operation.id,
      section: operation.section,
      method: operation.method,
      path: operation.path,
      provenance: toProvenance(operation),
      assumptions: [...(operation.assumptions ?? [])],
      assumed: [...listAssumedParts(operation)],
      error_codes: [...listErrorCodes(operation)],
    })),
    assumptions: ASSUMPTIONS.map(({ id, topic, chosen }) => ({
      id,
      topic,
      chosen,
      settings: listSettings(id),
      operations: operations.filter(({ assumptions }) => assumptions?.includes(id)).map((one) => one.id),
    })),
  };
}

function toProvenance(operation: AnyOperation): "specified" | "assumed" | "own" {
  if (operation.sourceFile !== undefined) return "own";
  return findEndpointAssumption(operation) === undefined ? "specified" : "assumed";
}

/** The ledger as the page docs/fidelity.md. */
export function renderFidelityPage(ledger: FidelityLedger): string {
  const assumedOperations = ledger.operations.filter(({ provenance }) => provenance === "assumed");
  const byResource = new Map<string, string[]>();
  for (const { id } of assumedOperations)
    getOrAdd(byResource, id.split(".", 1)[0]!, () => []).push(`\`${id}\``);
  const parts = new Map<string, string[]>();
  for (const { id, provenance, assumed } of ledger.operations) {
    if (provenance !== "specified" || assumed.length === 0) continue;
    const description = describeAssumed(assumed);
    getOrAdd(parts, description, () => []).push(`\`${id}\``);
  }
  return `# Fidelity ledger

Some parts of the emulated API are *specified*: the service's [published reference](reference/service-api.md) shows them. The
rest is *assumed*: it follows one of our [assumptions](reference/assumptions.md), each cited here by its number, such as \`G21\`. Check assumed parts
against the real service before you rely on them, for example by [\`verify\`](verify.md). \`understudy fidelity --json\` also lists the assumptions
about each operation's behaviour. \`npm run generate\` writes this page.

## Operations

The API has ${ledger.operations.length} operations. The reference does not show these ${assumedOperations.length}, so they are assumed as a whole.
[The API](api.md) names the assumptions of each:

${[...byResource.values()].map((ids) => `- ${ids.join(", ")}`).join("\n")}

## Assumed parts of specified operations

| part | means |
|---|---|
| \`/limit\` | the field \`limit\` in the body of a success, with everything in it; \`*\` is each item of a list |
| type of \`/limit\` | the reference shows only the field's name |
| values of \`/limit\` | the reference shows the field's name and type, but not the values that it can have |
| response body | the whole body of a success |
| status | the status of a success |
| form of errors | which of [three forms](errors-and-limits.md#three-envelopes) an error's body has |

The assumption in brackets covers the parts before it:

${[...parts].map(([described, ids]) => `- ${ids.join(", ")}: ${described}`).join("\n")}
`;
}

function describeAssumed(assumed: readonly AssumedPart[]): string {
  const ids = [...new Set(assumed.map(({ assumption }) => assumption))];
  return ids
    .map((id) => {
      const parts = assumed.filter(({ assumption }) => assumption === id).map(({ part }) => part);
      return `${parts.map((part) => part.replace(/\/\S+$/, "`$&`")).join(", ")} (${id})`;
    })
    .join("; ");
}

/** The page docs/reference/assumptions.md, each assumption with the anchor that links such as `G08` lead to. */
export function renderAssumptionsPage(): string {
  const entries = ASSUMPTIONS.map(({ id, topic, chosen, details = [] }) => {
    const settings = listSettings(id).map((name) => `\`${name}\``);
    const parts = [
      toMarkdown(chosen),
      details.map((text) => `- ${toMarkdown(text)}`).join("\n"),
      settings.length === 0 ? "" : `[Settings](../sandboxes-and-time.md#settings): ${settings.join(", ")}.`,
    ];
    return `## <a id="${id}"></a>${id} ${topic}\n\n${parts.filter((text) => text !== "").join("\n\n")}\n`;
  });
  return `# Assumptions

What Understudy does where the [published reference](service-api.md) is silent. [The API](../api.md) names the assumptions of each operation.
\`npm run generate\` writes this page.

- The forms of errors are the envelopes [A](service-api.md#7.1), [B](service-api.md#7.2) and [C](service-api.md#7.3).
- "404 with \`store_id\`": the error's details have this id. "422 with \`status\`": the error's details name this field.
- State calls are [calls of the control API](../control-api.md#state) that change records.

${entries.join("\n")}`;
}

/** Links sections and assumptions, outside code and links. Escapes `<resource>_id`, which would be an HTML element. */
function toMarkdown(text: string): string {
  return text
    .replaceAll("<", "\\<")
    .replace(/`[^`]*`|\[[^\]]*\]\([^)]*\)|\b(G\d\d)\b|\b([2-9]\.\d{1,2})\b/g, (whole, id, section) => {
      if (id !== undefined) return `[${id}](#${id})`;
      return section === undefined ? whole : `[${section}](service-api.md#${section})`;
    });
}
