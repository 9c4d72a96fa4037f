import { isMadeUp } from "./safety.ts";

/** What `--use` takes, and what it stands for. */
export const USABLE: Readonly<Record<string, string>> = {
  organization_id: "the organization to read; by default the one that the key acts in",
  session_id: "a meeting session that has ended",
  transcription_id: "a completed transcription",
  pending_transcription_id: "a transcription that is not completed",
  collection_id: "a music collection that the key's user owns",
  assistant_id: "an assistant with a history",
  store_id: "a knowledge store",
  file_id: "a file in that store",
  job_id: "a connector job",
  webhook_id: "a webhook",
  slug: "the slug of an active share link",
  foreign_organization_id: "an organization that the key's user is no member of",
  foreign_session_id: "a meeting session of such an organization",
  other_organization_id: "another organization that the key's user is a member of",
  department_id: "a department that --write may move to the top and back",
  parent_department_id: "the parent that it has now",
  webhook_url: "a receiver that --write may have called",
  scratch_store_id: "a store that --write may put a small file into, for good",
  scratch_connection_id: "a connection of which --write may start a sync and cancel it",
  model: "the key of a model that --write may ask for one short, billed answer",
  provider: "the image provider that extends by pixels (provider_a), which --write may ask once",
};

/** Collections of the reference stand for the parameter that names one of their records. */
export const USABLE_AS: Readonly<Record<string, string>> = {
  org_id: "organization_id",
  organizations: "organization_id",
  meeting_sessions: "session_id",
  transcriptions: "transcription_id",
  music_collections: "collection_id",
  assistants: "assistant_id",
  vector_stores: "store_id",
  files: "file_id",
  connector_jobs: "job_id",
  webhooks: "webhook_id",
  departments: "department_id",
  models: "model",
};

/** Parameters by the prefixes of section 2.1, for ids that turn up in answers. */
const NAME_OF_PREFIX: Readonly<Record<string, string>> = {
  asst: "assistant_id",
  file: "file_id",
  mbsess: "session_id",
  mcoll: "collection_id",
  trans: "transcription_id",
  vs: "store_id",
  wh: "webhook_id",
};
const SEEN = new RegExp(`^(${Object.keys(NAME_OF_PREFIX).join("|")})_[A-Za-z0-9-][A-Za-z0-9_-]{0,119}$`);
const MOST_SEEN = 20;

export type Binding = Readonly<Record<string, string>>;

/** The objects that checks may ask for: given by the user, else found, else seen in some answer. */
export class KnownObjects {
  private readonly given: ReadonlyMap<string, readonly string[]>;
  private readonly tuples: Binding[] = [];
  private readonly seen = new Map<string, Set<string>>();

  constructor(given: ReadonlyMap<string, readonly string[]> = new Map()) {
    this.given = given;
  }

  /** Ids that belong together, such as a file and its store. */
  found(binding: Binding): void {
    this.tuples.push(binding);
  }

  /** Looks for ids among the values of an answer's JSON. */
  read(value: unknown): void {
    if (typeof value === "object" && value !== null) {
      for (const [key, inner] of Object.entries(value)) {
        // The reference gives jobs no prefix.
        if (key === "job_id" && typeof inner === "string") this.add("job_id", inner);
        this.read(inner);
      }
      return;
    }
    const [, prefix] = SEEN.exec(typeof value === "string" ? value : "") ?? [];
    if (prefix !== undefined && !isMadeUp(String(value))) this.add(NAME_OF_PREFIX[prefix]!, String(value));
  }

  private add(name: string, id: string): void {
    const ids = this.seen.get(name) ?? new Set();
    this.seen.set(name, ids);
    if (ids.size < MOST_SEEN) ids.add(id);
  }

  one(name: string): string | undefined {
    return this.candidates(name)[0];
  }

  isGiven(name: string): boolean {
    return this.given.has(name);
  }

  candidates(name: string): readonly string[] {
    const known = USABLE_AS[name] ?? name;
    const given = this.given.get(known);
    if (given !== undefined) return given;
    const found = this.tuples.flatMap((tuple) => (tuple[known] === undefined ? [] : [tuple[known]]));
    return [...new Set([...found, ...(this.seen.get(known) ?? [])])];
  }

  /** Values for all the parameters, the likeliest first: those known to belong together, then any. */
  bindings(names: readonly string[], most = 6): Binding[] {
    const together = this.tuples
      .filter((tuple) => names.every((name) => this.fits(tuple, name)))
      .map((tuple) => Object.fromEntries(names.map((name) => [name, this.valueIn(tuple, name)!])));
    let any: Binding[] = [{}];
    for (const name of names) {
      const values = this.candidates(name);
      any = any.flatMap((binding) => values.slice(0, most).map((value) => ({ ...binding, [name]: value })));
    }
    const unique = new Map([...together, ...any].map((binding) => [JSON.stringify(binding), binding]));
    return [...unique.values()].slice(0, most);
  }

  private valueIn(tuple: Binding, name: string): string | undefined {
    const known = USABLE_AS[name] ?? name;
    return known === "organization_id" ? this.one(known) : tuple[known];
  }

  private fits(tuple: Binding, name: string): boolean {
    const value = this.valueIn(tuple, name);
    const given = this.given.get(USABLE_AS[name] ?? name);
    return value !== undefined && (given === undefined || given.includes(value));
  }
}
