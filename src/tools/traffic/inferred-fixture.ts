import { getOrAdd } from "../../engine/maps.ts";
import { isMasked } from "../verify/check-answer.ts";

export type Fields = Record<string, unknown>;

/** The user for all callers: recordings contain no keys. */
export const RECORDED_USER = "usr_recorded";
const KEY_LENGTH = 42;

/** A service's objects as successful answers show them, in the layout of a fixture. */
export class InferredFixture {
  /** By key of the fixture, records by id. */
  private readonly lists = new Map<string, Map<string, Fields>>();
  /** By key of the fixture, the records of each organization. */
  private readonly maps = new Map<string, Map<string, unknown>>();
  /** The latest instants of the service's clock, from its answers, and of the recorder's clock. */
  private readonly latest = { stated: Number.NEGATIVE_INFINITY, recorded: Number.NEGATIVE_INFINITY };

  /** Adds fields to a record; later values replace earlier ones. */
  record(list: string, idKey: string, fields: Fields): Fields {
    const id = fields[idKey];
    if (typeof id !== "string" || isMasked(id)) return {};
    const records = getOrAdd(this.lists, list, () => new Map<string, Fields>());
    const record = getOrAdd(records, id, (): Fields => ({}));
    const known = Object.entries(fields).filter(([, value]) => value !== undefined && !isMasked(value));
    return Object.assign(record, Object.fromEntries(known));
  }

  /** Returns a list within a record; creates it if needed. */
  openList<T>(record: Fields, name: string): T[] {
    const list = (record[name] ?? []) as T[];
    record[name] = list;
    return list;
  }

  addOrganization(id: string, fields: Fields = {}): Fields {
    return this.record("organizations", "id", { id, ...fields });
  }

  /** The first organization seen, for records without one. */
  pickOrganization(): string {
    const [first] = this.lists.get("organizations")?.keys() ?? [];
    return first ?? "org_recorded";
  }

  addUser(id: unknown, organization_id: string | undefined, fields: Fields = {}): void {
    if (typeof id !== "string") return;
    const user = this.record("users", "id", { id, ...fields });
    if (organization_id === undefined || user["id"] === undefined) return;
    user["memberships"] = { [organization_id]: "member", ...(user["memberships"] as object | undefined) };
  }

  /** Returns an organization's records under a key of the fixture; creates them with `start` if needed. */
  openForOrganization<T>(key: string, organization_id: string, start: () => T): T {
    const all = getOrAdd(this.maps, key, () => new Map<string, unknown>());
    const records = getOrAdd(all, organization_id, start) as T;
    this.addOrganization(organization_id);
    return records;
  }

  /** Records the time of an answer, in milliseconds since 1970, and whose clock that is. */
  recordTime(clock: "stated" | "recorded", time: number): void {
    if (time > this.latest[clock]) this.latest[clock] = time;
  }

  /** The instant of the world, by the service's clock if known, else by the recorder's. */
  get epoch(): number | undefined {
    return [this.latest.stated, this.latest.recorded].find(Number.isFinite);
  }

  countRecords(): Record<string, number> {
    const sizes = [...this.lists].map(([key, records]): [string, number] => [key, records.size]);
    const keyed = [...this.maps].map(([key, all]): [string, number] => [
      key,
      [...all.values()].reduce<number>((sum, value) => sum + (Array.isArray(value) ? value.length : 1), 0),
    ]);
    return Object.fromEntries([...sizes, ...keyed].sort());
  }

  /** Adds a user with all permissions in each organization, and a key. */
  toDocument(): Fields {
    this.addOrganization(this.pickOrganization());
    const organizations = [...this.lists.get("organizations")!.keys()];
    this.record("users", "id", {
      id: RECORDED_USER,
      memberships: Object.fromEntries(organizations.map((id) => [id, "owner"])),
    });
    for (const [position, organization_id] of organizations.entries()) {
      const id = `apikey_recorded${position === 0 ? "" : position + 1}`;
      this.record("api_keys", "id", {
        id,
        user_id: RECORDED_USER,
        current: organization_id,
        key: makeApiKey(position),
      });
    }
    const lists = [...this.lists].map(([key, records]): [string, unknown] => [key, [...records.values()]]);
    const maps = [...this.maps].map(([key, all]): [string, unknown] => [key, Object.fromEntries(all)]);
    const { epoch } = this;
    const start = epoch === undefined ? {} : { epoch: new Date(epoch).toISOString() };
    return { ...start, ...Object.fromEntries([...lists, ...maps]) };
  }
}

/** An API key of the form of section 2.15, equal in every fixture, so that tests can use it. */
export function makeApiKey(position: number): string {
  const start = `ak_recorded${position === 0 ? "" : position + 1}`;
  return start.padEnd(KEY_LENGTH, "0");
}
