import type { AnyCollection } from "../state/collection.ts";
import type { AnyEvent } from "./event.ts";
import type { AnyOperation } from "./operation.ts";
import type { Resource } from "./resource.ts";
import { Router } from "./router.ts";

/** The emulated API of a server, or of one sandbox with operations of its own. */
export interface Api {
  /** In the order in which documents and lists show them. */
  readonly resources: readonly Resource[];
  readonly operations: readonly AnyOperation[];
  /** All events that are sent to receivers: those that webhooks can subscribe to, and `webhook.test` (section 4.21). */
  readonly events: readonly AnyEvent[];
  readonly collections: readonly AnyCollection[];
  readonly router: Router;
}

export function createApi(declarations: readonly Resource[]): Api {
  const userEvents = declarations.flatMap(({ userSource, events = [] }) =>
    userSource === undefined ? [] : events,
  );
  const userEventNames = userEvents.map(({ name }) => name);
  const resources =
    userEvents.length === 0
      ? declarations
      : declarations.map((resource) => addEventNames(resource, userEventNames));
  const operations = resources.flatMap((resource) => resource.operations);
  return {
    resources,
    operations,
    events: resources.flatMap(({ events = [] }) => events),
    collections: resources.flatMap(({ collections }) => collections),
    router: new Router(operations),
  };
}

/**
 * Adds the names of users' own events to the schemas with `x-events`: those of webhooks and of notification rules. Objects
 * without such a schema stay the same.
 */
function addEventNames(resource: Resource, names: readonly string[]): Resource {
  const addNames = <T>(value: T): T => {
    const text = JSON.stringify(value) ?? "";
    if (!text.includes('"x-events"')) return value;
    return JSON.parse(text, (_, part) =>
      part?.["x-events"] === true ? { ...part, enum: [...new Set([...part.enum, ...names])] } : part,
    ) as T;
  };
  const { fixture } = resource;
  const extendCollection = (collection: AnyCollection) => {
    const schema = addNames(collection.schema);
    return schema === collection.schema ? collection : { ...collection, schema };
  };
  const extendOperation = (operation: AnyOperation) => {
    const { body, success } = operation;
    const schemas = { body, success };
    const extended = addNames(schemas);
    return extended === schemas ? operation : { ...operation, ...extended };
  };
  return {
    ...resource,
    collections: resource.collections.map(extendCollection),
    operations: resource.operations.map(extendOperation),
    ...(fixture && { fixture: { ...fixture, keys: addNames(fixture.keys) } }),
  };
}

/** The same API with more resources. */
export function extendApi(api: Api, resources: readonly Resource[]): Api {
  return resources.length === 0 ? api : createApi([...api.resources, ...resources]);
}

export function findEvent({ events }: Pick<Api, "events">, name: string): AnyEvent | undefined {
  return events.find((event) => event.name === name);
}
