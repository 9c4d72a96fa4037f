import type { AnyCollection } from "../state/collection.ts";
import type { AnyEvent } from "./event.ts";
import type { AnyOperation } from "./operation.ts";
import type { Resource } from "./resource.ts";
import { Router } from "./router.ts";

/** The emulated API as a value: what a server, or one sandbox, answers. */
export interface Api {
  /** In the order of documents and lists. */
  readonly resources: readonly Resource[];
  readonly operations: readonly AnyOperation[];
  /** All events that are sent to receivers: those that webhooks can subscribe to, and the test of 4.21. */
  readonly events: readonly AnyEvent[];
  readonly collections: readonly AnyCollection[];
  readonly router: Router;
}

export function createApi(declared: readonly Resource[]): Api {
  const own = declared.flatMap(({ own, events = [] }) => (own === undefined ? [] : events));
  const resources =
    own.length === 0
      ? declared
      : declared.map((one) =>
          withEvents(
            one,
            own.map(({ name }) => name),
          ),
        );
  const operations = resources.flatMap((resource) => resource.operations);
  return {
    resources,
    operations,
    events: resources.flatMap(({ events = [] }) => events),
    collections: resources.flatMap(({ collections }) => collections),
    router: new Router(operations),
  };
}

/** Webhooks can subscribe to own events too: adds their names to the schemas with `x-events`. */
function withEvents(resource: Resource, names: readonly string[]): Resource {
  const add = <T>(value: T): T =>
    JSON.parse(JSON.stringify(value), (_, part) =>
      part?.["x-events"] === true ? { ...part, enum: [...new Set([...part.enum, ...names])] } : part,
    ) as T;
  if (!JSON.stringify(resource).includes('"x-events"')) return resource;
  const { fixture } = resource;
  return {
    ...resource,
    collections: resource.collections.map((one) => ({ ...one, schema: add(one.schema) })),
    operations: resource.operations.map((one) => ({
      ...one,
      ...add({ body: one.body, success: one.success }),
    })),
    ...(fixture && { fixture: { ...fixture, keys: add(fixture.keys), seed: fixture.seed.bind(fixture) } }),
  };
}

/** The same API with further resources. */
export function extendApi(api: Api, own: readonly Resource[]): Api {
  return own.length === 0 ? api : createApi([...api.resources, ...own]);
}

export function findEvent({ events }: Pick<Api, "events">, name: string): AnyEvent | undefined {
  return events.find((event) => event.name === name);
}
