import type { ErrorObject } from "ajv";
import { FixtureLibrary } from "../../documents/fixture-library.ts";
import { appendStep, toSteps } from "../../engine/contract/invalid-field.ts";
import { visitReferences } from "../../engine/contract/references.ts";
import type { FixtureData, Resource } from "../../engine/contract/resource.ts";
import { diagnose } from "../../engine/documents/check-document.ts";
import { type FixtureShape, getFixtureShape } from "../../engine/fixtures/fixture-shape.ts";
import { getOrAdd } from "../../engine/maps.ts";
import type { Contract } from "../verify/contract.ts";
import { type OperationExchange, visitExchanges } from "../verify/recorded/archive.ts";
import { EXTRACTORS } from "./extractors.ts";
import { type Fields, InferredFixture, makeApiKey } from "./inferred-fixture.ts";

interface FixtureFromHar {
  fixture: FixtureData;
  /** Base URL of the recorded service. */
  base: string;
  counts: Record<string, number>;
  /** Number of answers whose bodies the recorder left out or truncated. */
  bodilessCount: number;
  /** Values that fixtures do not allow, with their places. */
  dropped: string[];
  /** An API key with all permissions in the first organization. */
  key: string;
}

const MAX_DROPPED = 10_000;

/**
 * Creates a fixture for `start` from the objects in successful answers (interfaces.md 12). Leaves out values that fixtures do
 * not allow, and adds records to which others refer.
 * @throws InputError; UnusableTargetError if nothing belongs to this API; DocumentError if parts contradict each other
 */
export async function inferFixtureFromHar({
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
  let bodilessCount = 0;
  const { base } = await visitExchanges({ contract, file }, () => ({
    visit(exchange) {
      // Such as "with the body cut short".
      if (exchange.missing?.startsWith("with the body")) bodilessCount += 1;
      collectRecords(world, exchange, dropped);
    },
  }));
  const counts = world.countRecords();
  const document = structuredClone(world.toDocument());
  keepFixtureMonths(document["usage"], world.epoch);
  const shape = getFixtureShape(resources);
  const invalid = dropInvalidValues(document, shape);
  addMissingRecords(document, shape);
  const fixture = sortKeys(document, shape);
  new FixtureLibrary({ resources, trustBuild: false }).load(fixture);
  return { fixture, base, counts, bodilessCount, dropped: [...dropped, ...invalid], key: makeApiKey(0) };
}

/** The instant that an answer states for itself (sections 7.1 and 4.11); NaN if it states none. */
function readStatedInstant(body: { error?: Fields; metadata?: Fields } | undefined): number {
  return Date.parse(String(body?.error?.["timestamp"] ?? body?.metadata?.["timestamp"]));
}

function collectRecords(world: InferredFixture, exchange: OperationExchange, dropped: string[]): void {
  const { operation, answer, hasWholeBodies, params, at } = exchange;
  world.recordTime("recorded", at);
  world.recordTime("stated", readStatedInstant(answer.json));
  const extractor = EXTRACTORS[operation.id];
  if (extractor === undefined || !hasWholeBodies || answer.status >= 300 || answer.status < 200) return;
  const organization_id =
    params["organization_id"] ?? answer.headers.get(ORGANIZATION_HEADER) ?? world.pickOrganization();
  inferPlan(world, exchange);
  try {
    world.addOrganization(organization_id);
    extractor(world, { body: answer.json as Fields, exchange, organization_id });
  } catch {
    // The answer has another shape; `verify --har` describes the problem.
    dropped.push(`an answer of ${operation.id}`);
  }
}

/** Keeps the spending of the fixture's month and of the month before. */
function keepFixtureMonths(usage: unknown, epoch = Number.NaN): void {
  if (usage === undefined || Number.isNaN(epoch)) return;
  const now = new Date(epoch);
  const toMonth = (monthsAgo: number) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - monthsAgo)).toISOString().slice(0, 7);
  const keepMonths = ({ spent = {} }: { spent?: Fields }) => {
    for (const [name, amount] of Object.entries(spent)) {
      if (name === "current") continue;
      delete spent[name];
      // A request that names only the month, or only the year, means the current one of the other (section 4.17).
      const month = name.replace(/^(?=-)/, toMonth(0).slice(0, 4)).replace(/-$/, toMonth(0).slice(4));
      if (month === toMonth(0)) spent["current"] ??= amount;
      if (month === toMonth(1)) spent["previous"] ??= amount;
    }
  };
  for (const organizationUsage of Object.values(
    usage as Record<string, { spent: Fields; keys: Record<string, Fields> }>,
  )) {
    keepMonths(organizationUsage);
    for (const key of Object.values(organizationUsage.keys)) keepMonths(key);
  }
}

const ORGANIZATION_HEADER = "service-organization";
const PLANS: Readonly<Record<number, string>> = { 100: "standard", 1000: "premium" };

/** Infers the plan from the rate limit in answers, which is that of the key's current organization (G07). */
function inferPlan(world: InferredFixture, { params, answer: { headers } }: OperationExchange): void {
  const id = headers.get(ORGANIZATION_HEADER);
  const limit = Number(headers.get("x-ratelimit-limit") ?? headers.get("x-ratelimit-limit-requests"));
  if (id === null || !(limit > 0)) return;
  // With an organization in the path, the header names that one, whose plan the limit may not be (G32).
  const isInPath = (params["organization_id"] ?? params["org_id"]) !== undefined;
  if (isInPath && world.addOrganization(id)["plan"] !== undefined) return;
  const plan = PLANS[limit];
  world.addOrganization(id, plan === undefined ? { plan: "enterprise", rate_limit: limit } : { plan });
}

/** Removes values that the schema refuses, or the record if the value is required. */
function dropInvalidValues(document: Fields, shape: FixtureShape): string[] {
  const validate = shape.validator();
  const dropped: string[] = [];
  while (dropped.length < MAX_DROPPED && !validate(document)) {
    // The last item of a list first, so that the positions of the others stay.
    const places = [...new Set(diagnose(document, validate).map(findPlace))].toReversed();
    for (const place of places) {
      removeValue(document, place);
      dropped.push(place);
    }
  }
  return dropped;
}

function findPlace({ keyword, instancePath, params }: ErrorObject): string {
  if (keyword !== "additionalProperties") return instancePath;
  return appendStep(instancePath, String(params["additionalProperty"]));
}

function removeValue(document: Fields, place: string): void {
  const names = toSteps(place);
  const last = names.pop()!;
  const holder = names.reduce<unknown>((value, name) => (value as Fields | undefined)?.[name], document);
  if (Array.isArray(holder)) holder.splice(Number(last), 1);
  else if (holder !== undefined) delete (holder as Fields)[last];
}

/** Adds users, files, connections and other records that are only named. */
function addMissingRecords(document: Fields, shape: FixtureShape): void {
  const idsByCollection = new Map<string, Set<string>>();
  visitReferences(shape.document, document, ({ reference: { collection }, id }) => {
    getOrAdd(idsByCollection, collection, () => new Set<string>()).add(id);
  });
  for (const [collection, ids] of idsByCollection) {
    const list = shape.lists.get(collection);
    if (list === undefined) continue;
    const records = (document[collection] ?? []) as Fields[];
    document[collection] = records;
    const existingIds = new Set(records.map((record) => record[list.idKey]));
    for (const id of ids) if (!existingIds.has(id)) records.push({ [list.idKey]: id });
  }
}

function sortKeys(document: Fields, shape: FixtureShape): FixtureData {
  const order = Object.keys(shape.document.properties ?? {});
  const sorted = Object.entries(document).sort(([a], [b]) => order.indexOf(a) - order.indexOf(b));
  return Object.fromEntries(sorted) as FixtureData;
}
