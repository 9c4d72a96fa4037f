import type { ErrorObject } from "ajv";
import { FixtureLibrary } from "../../documents/fixture-library.ts";
import { visitReferences } from "../../engine/contract/references.ts";
import type { FixtureData, Resource } from "../../engine/contract/resource.ts";
import { diagnose } from "../../engine/documents/check-document.ts";
import { type FixtureShape, fixtureShape } from "../../engine/fixtures/fixture-shape.ts";
import type { Contract } from "../verify/contract.ts";
import { eachExchange, type OperationExchange } from "../verify/recorded/archive.ts";
import { EXTRACTORS } from "./extractors.ts";
import { type Fields, InferredFixture, toKey } from "./inferred-fixture.ts";

export interface FixtureFromHar {
  fixture: FixtureData;
  /** Base URL of the recorded service. */
  base: string;
  /** Records by list, as they were seen. */
  counts: Record<string, number>;
  /** Answers whose bodies the recorder left out or cut. */
  without_body: number;
  /** Values that no fixture may hold, with their places. */
  dropped: string[];
  /** Acts in the first organization, and may do everything there. */
  key: string;
}

/** Problems listed for an archive that fits badly. */
const MAX_DROPPED = 10_000;

/**
 * interfaces 12: objects that were seen in successful answers, as a fixture that `start` takes. Values which no
 * fixture may hold are left out, what the rest refers to is added.
 * @throws InputError; TargetUnusable where nothing is of this API; DocumentError where the parts do not fit
 */
export async function fixtureFromHar({
  file,
  contract,
  resources,
}: {
  file: string;
  contract: Contract;
  resources: readonly Resource[];
}): Promise<FixtureFromHar> {
  const world = new InferredFixture();
  const dropped: string[] = [];
  let without_body = 0;
  const { base } = await eachExchange({ contract, file, target: undefined }, () => ({
    left() {},
    exchange(exchange) {
      if (exchange.missing?.startsWith("with the body")) without_body += 1;
      learn(world, exchange, dropped);
    },
  }));
  const counts = world.counts();
  const document = structuredClone(world.document());
  settleMonths(document["usage"], world.epoch);
  const shape = fixtureShape(resources);
  const unfit = dropWhatDoesNotFit(document, shape);
  addWhatIsMissing(document, shape);
  const fixture = inOrder(document, shape);
  new FixtureLibrary({ resources, trustBuild: false }).load(fixture);
  return { fixture, base, counts, without_body, dropped: [...dropped, ...unfit], key: toKey(0) };
}

/** Section 7.1 and 4.11: the instants at which answers say that they were made; NaN where they do not. */
function toldBy(body: { error?: Fields; metadata?: Fields } | undefined): number {
  return Date.parse(String(body?.error?.["timestamp"] ?? body?.metadata?.["timestamp"]));
}

function learn(world: InferredFixture, exchange: OperationExchange, dropped: string[]): void {
  const { operation, answer, whole, params, at } = exchange;
  world.at("recorded", at);
  world.at("stated", toldBy(answer.json));
  const extractor = EXTRACTORS[operation.id];
  if (extractor === undefined || !whole || answer.status >= 300 || answer.status < 200) return;
  const organization_id =
    params["organization_id"] ?? answer.headers.get(ORGANIZATION) ?? world.someOrganization();
  noteLimit(world, answer.headers);
  try {
    world.organization(organization_id);
    extractor(world, { body: answer.json as Fields, exchange, organization_id });
  } catch {
    // An answer of another shape; `verify --har` says what is wrong with it.
    dropped.push(`an answer of ${operation.id}`);
  }
}

/** A fixture contains the spending of its month and of the month before. */
function settleMonths(usage: unknown, epoch = Number.NaN): void {
  if (usage === undefined || Number.isNaN(epoch)) return;
  const now = new Date(epoch);
  const findMonth = (ago: number) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - ago)).toISOString().slice(0, 7);
  const settle = ({ spent = {} }: { spent?: Fields }) => {
    for (const [name, ago] of [
      ["current", 0],
      ["previous", 1],
    ] as const)
      spent[name] ??= spent[findMonth(ago)];
    for (const name of Object.keys(spent))
      if (/^\d/.test(name) || spent[name] === undefined) delete spent[name];
  };
  for (const own of Object.values(usage as Record<string, { spent: Fields; keys: Record<string, Fields> }>)) {
    settle(own);
    for (const key of Object.values(own.keys)) settle(key);
  }
}

const ORGANIZATION = "service-organization";
const PLANS: Readonly<Record<number, string>> = { 100: "standard", 1000: "premium" };

/** Section 8: the plan, by the limit that answers show. */
function noteLimit(world: InferredFixture, headers: Headers): void {
  const id = headers.get(ORGANIZATION);
  const limit = Number(headers.get("x-ratelimit-limit") ?? headers.get("x-ratelimit-limit-requests"));
  if (id === null || !(limit > 0)) return;
  const plan = PLANS[limit];
  world.organization(id, plan === undefined ? { plan: "enterprise", rate_limit: limit } : { plan });
}

/** Removes what the schema refuses: the value, or what cannot be without it. */
function dropWhatDoesNotFit(document: Fields, shape: FixtureShape): string[] {
  const validate = shape.validator();
  const dropped: string[] = [];
  while (dropped.length < MAX_DROPPED && !validate(document)) {
    // The last of a list first, so that the places of the others stay.
    const places = [...new Set(diagnose(document, validate).map(findPlace))].toReversed();
    for (const place of places) {
      remove(document, place);
      dropped.push(place);
    }
  }
  return dropped;
}

function findPlace({ keyword, instancePath, params }: ErrorObject): string {
  if (keyword !== "additionalProperties") return instancePath;
  return `${instancePath}/${String(params["additionalProperty"]).replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

function remove(document: Fields, place: string): void {
  const steps = place.split("/").slice(1);
  const names = steps.map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
  const last = names.pop()!;
  const holder = names.reduce<unknown>((value, name) => (value as Fields | undefined)?.[name], document);
  if (Array.isArray(holder)) holder.splice(Number(last), 1);
  else if (holder !== undefined) delete (holder as Fields)[last];
}

/** Users, files, connections and the like that are only named. */
function addWhatIsMissing(document: Fields, shape: FixtureShape): void {
  const named = new Map<string, Set<string>>();
  visitReferences(shape.document, document, ({ reference: { collection }, id }) => {
    named.set(collection, (named.get(collection) ?? new Set()).add(id));
  });
  for (const [collection, ids] of named) {
    const list = shape.lists.get(collection);
    if (list === undefined) continue;
    const records = (document[collection] ?? []) as Fields[];
    document[collection] = records;
    const held = new Set(records.map((record) => record[list.idKey]));
    for (const id of ids) if (!held.has(id)) records.push({ [list.idKey]: id });
  }
}

function inOrder(document: Fields, shape: FixtureShape): FixtureData {
  const order = Object.keys(shape.document.properties ?? {});
  const sorted = Object.entries(document).sort(([a], [b]) => order.indexOf(a) - order.indexOf(b));
  return Object.fromEntries(sorted) as FixtureData;
}
