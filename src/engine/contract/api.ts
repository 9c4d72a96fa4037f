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

export function createApi(resources: readonly Resource[]): Api {
  const operations = resources.flatMap((resource) => resource.operations);
  return {
    resources,
    operations,
    events: resources.flatMap(({ events = [] }) => events),
    collections: resources.flatMap(({ collections }) => collections),
    router: new Router(operations),
  };
}

/** The same API with further resources. */
export function extendApi(api: Api, own: readonly Resource[]): Api {
  return own.length === 0 ? api : createApi([...api.resources, ...own]);
}

export function findEvent({ events }: Pick<Api, "events">, name: string): AnyEvent | undefined {
  return events.find((event) => event.name === name);
}
