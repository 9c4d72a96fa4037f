import type { AnyCollection } from "../state/collection.ts";
import type { AnyEvent } from "./event.ts";
import type { AnyOperation } from "./operation.ts";
import type { Resource } from "./resource.ts";
import { Router } from "./router.ts";

/** The emulated API as a value: what a server, or one sandbox, answers. */
export interface Api {
  /** In the order in which documents and lists show them. */
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
  const add = <T>(value: T): T => {
    const text = JSON.stringify(value) ?? "";
    if (!text.includes('"x-events"')) return value;
    return JSON.parse(text, (_, part) =>
      part?.["x-events"] === true ? { ...part, enum: [...new Set([...part.enum, ...names])] } : part,
    ) as T;
  };
  const { fixture } = resource;
  const withSchema = (one: AnyCollection) => {
    const schema = add(one.schema);
    return schema === one.schema ? one : { ...one, schema };
  };
  const withBodies = (one: AnyOperation) => {
    const { body, success } = one;
    const added = add({ body, success });
    return added.success === success ? one : { ...one, ...added };
  };
  return {
    ...resource,
    collections: resource.collections.map(withSchema),
    operations: resource.operations.map(withBodies),
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
