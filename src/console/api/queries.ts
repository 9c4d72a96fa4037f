import {
  type InvalidateQueryFilters,
  notifyManager,
  QueryClient,
  useMutation,
  useQuery,
} from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import type { CollectionName, PageOptions } from "../../../types/control-api.ts";
import { useSandboxName } from "../address.ts";
import { showConfirmation } from "../components/confirmations.tsx";
import { createSandboxCalls, type SandboxCalls, server } from "./calls.ts";
import type { ControlError } from "./fetch-control.ts";
import { fetchService, SAFE_METHODS, type ServiceCall } from "./fetch-service.ts";
import { listOperations } from "./open-api.ts";
import { undoEntry, undoRequest } from "./undo.ts";

declare module "@tanstack/react-query" {
  interface Register {
    defaultError: ControlError;
    queryMeta: {
      /** False for slow queries that rarely change; others are refetched while the sandbox is busy, at most once a second. */
      live?: boolean;
    };
  }
}

/** Queries are not retried: when the live stream reconnects, every query is refetched. */
export function createQueryClient(): QueryClient {
  // Before the next click of a double click, so that a button knows that its change is pending.
  notifyManager.setScheduler(queueMicrotask);
  return new QueryClient({
    defaultOptions: {
      queries: { retry: false, staleTime: 1000, refetchOnWindowFocus: "always" },
      mutations: { retry: false },
    },
  });
}

export const toSandboxKey = (name: string) => ["sandbox", name] as const;

interface QueryOptions {
  /** Refetches while the sandbox is busy. True by default. */
  live?: boolean;
  enabled?: boolean;
  /** The interval of polls, in milliseconds, for what the live stream does not report. */
  pollMs?: number;
}

const OWN_OPERATIONS_POLL_MS = 5000;

interface SandboxQueryOptions<T> extends QueryOptions {
  /** Whether the data has own operations. It is then polled, since their files may be edited meanwhile. */
  hasOwn?: (data: T) => boolean;
}

export function useSandboxQuery<T>(
  key: readonly unknown[],
  queryFn: (calls: SandboxCalls) => Promise<T>,
  { live = true, enabled = true, pollMs, hasOwn }: SandboxQueryOptions<T> = {},
) {
  const name = useSandboxName();
  return useQuery({
    queryKey: [...toSandboxKey(name), ...key],
    queryFn: () => queryFn(createSandboxCalls(name)),
    enabled,
    refetchInterval: ({ state: { data } }) =>
      data !== undefined && hasOwn?.(data) ? OWN_OPERATIONS_POLL_MS : (pollMs ?? false),
    meta: { live },
  });
}

interface ConfirmationOptions<T, Input> {
  /** Changes with the same name run one after another. */
  queue?: string;
  /** Confirms in a sentence what was done. */
  confirmation?: string | ((result: T, input: Input) => string | undefined);
}

/**
 * Changes something, says so, and refetches the queries that `refetched` selects. `findUndo` returns a function that undoes
 * the change; undefined if that is impossible.
 */
function useUndoableMutation<T, Input>(
  mutationFn: (input: Input) => Promise<T>,
  { confirmation, queue }: ConfirmationOptions<T, Input>,
  findUndo: (result: T, input: Input) => (() => Promise<unknown>) | undefined,
  refetched: InvalidateQueryFilters,
) {
  const confirm = (result: T, input: Input, client: QueryClient) => {
    const text = typeof confirmation === "function" ? confirmation(result, input) : confirmation;
    if (!text) return;
    const undo = findUndo(result, input);
    const undoAndRefetch = async () => {
      await undo?.();
      await client.invalidateQueries(refetched);
    };
    showConfirmation({ text, undo: undo && undoAndRefetch });
  };
  return useMutation<T, ControlError, Input, typeof confirm>({
    mutationFn,
    ...(queue !== undefined && { mutationKey: [queue], scope: { id: queue } }),
    // As rendered when the change began: the live stream may show its result before the call has ended.
    onMutate: () => confirm,
    onSuccess: (result, input, confirmBegun, { client }) => confirmBegun(result, input, client),
    onSettled: (_data, _error, _input, _result, { client }) => client.invalidateQueries(refetched),
  });
}

interface ReversibleOptions<T, Input> extends ConfirmationOptions<T, Input> {
  undo?: (result: T, input: Input) => Promise<unknown>;
}

/** Changes something and refetches all queries. */
export function useChange<T, Input = void>(
  change: (input: Input) => Promise<T>,
  options: ReversibleOptions<T, Input> = {},
) {
  const { undo } = options;
  return useUndoableMutation(change, options, (result, input) => undo && (() => undo(result, input)), {});
}

interface UndoableOptions<T, Input> extends ConfirmationOptions<T, Input> {
  /** By default, rewinds to before the change's entry in the history, if it has one. Null: nothing undoes the change. */
  undo?: ((calls: SandboxCalls, result: T, input: Input) => Promise<unknown>) | null;
}

/** Changes the sandbox in the address, refetches all its queries, and offers to undo the change. */
export function useSandboxChange<T, Input = void>(
  change: (calls: SandboxCalls, input: Input) => Promise<T>,
  options: UndoableOptions<T, Input> = {},
) {
  const { undo } = options;
  const name = useSandboxName();
  const entryIds = useRef<string[]>([]);
  return useUndoableMutation(
    (input: Input) => {
      entryIds.current = [];
      const calls = createSandboxCalls(name, (id) => entryIds.current.push(id));
      return change(calls, input);
    },
    options,
    (result, input) => {
      const calls = createSandboxCalls(name);
      const [entryId] = entryIds.current;
      if (undo) return () => undo(calls, result, input);
      return entryId === undefined || undo === null ? undefined : () => undoEntry(calls, entryId);
    },
    { queryKey: toSandboxKey(name) },
  );
}

/** A call of the emulated API from a form. `makeCall` may throw an input error, which the form shows. */
export function useServiceCall(makeCall: () => Omit<ServiceCall, "sandbox">) {
  const sandbox = useSandboxName();
  return useSandboxChange(
    async () => {
      const call = makeCall();
      return { ...call, answer: await fetchService({ ...call, sandbox }) };
    },
    {
      confirmation: ({ method, path, answer: { status } }) =>
        SAFE_METHODS.test(method) || status >= 400
          ? undefined
          : `${method} ${path} was answered with ${status}.`,
      undo: (calls, { answer }) => undoRequest(calls, answer.requestId),
    },
  );
}

const SANDBOXES_POLL_MS = 5000;

/** All sandboxes; polled, since no stream reports those that other clients create or delete. */
export function useSandboxes() {
  return useQuery({
    queryKey: ["sandboxes"],
    queryFn: server.sandboxes,
    refetchInterval: SANDBOXES_POLL_MS,
  });
}

export function useSandbox() {
  return useSandboxQuery(["show"], (calls) => calls.show());
}

const SNAPSHOTS_POLL_MS = 3000;

/** Snapshots of a sandbox; polled, since no stream reports those that other clients take or delete. */
export function useSnapshots(sandbox: string | undefined) {
  return useQuery({
    queryKey: [...toSandboxKey(sandbox ?? ""), "snapshots"],
    queryFn: () => createSandboxCalls(sandbox!).snapshots(),
    enabled: sandbox !== undefined,
    refetchInterval: SNAPSHOTS_POLL_MS,
  });
}

/** With a running clock, timers and retries happen without an entry in the live stream. */
const RUNNING_POLL_MS = 2000;

/** Options that poll while the sandbox's clock runs. */
export function usePollingWhileRunning(): QueryOptions {
  const { data } = useSandbox();
  return data && data.clock.mode !== "frozen" ? { pollMs: RUNNING_POLL_MS } : {};
}

export function useCollections() {
  return useSandboxQuery(["collections"], (calls) => calls.collections(), {
    hasOwn: ({ items }) => items.some(({ schema }) => schema !== undefined),
  });
}

export function useRecords<C extends CollectionName>(
  collection: C,
  query: PageOptions & Record<string, string | number> = {},
  options: QueryOptions = {},
) {
  return useSandboxQuery(
    ["records", collection, query],
    (calls) => calls.records(collection, query),
    options,
  );
}

export function useRecord<C extends CollectionName>(collection: C, id?: string, options?: QueryOptions) {
  return useSandboxQuery(["record", collection, id], (calls) => calls.record(collection, id!), options);
}

/** Organizations as choices of a form, with the query's error. */
export function useOrganizations() {
  const { data, error } = useRecords("organizations");
  return { choices: data?.items.map(({ id, name }) => ({ id, title: name, detail: id })), error };
}

export function useCoverage(options?: QueryOptions) {
  return useSandboxQuery(["coverage"], (calls) => calls.coverage(), {
    ...options,
    hasOwn: ({ own }) => own !== undefined,
  });
}

/** A document that does not change while a server runs. */
function useDocument<T>(name: "description" | "fidelity", queryFn: () => Promise<T>) {
  return useQuery({ queryKey: [name], queryFn, staleTime: Number.POSITIVE_INFINITY });
}

export function useOpenApi() {
  const query = useSandboxQuery(["openApi"], (calls) => calls.openApi(), {
    live: false,
    hasOwn: (api) => listOperations(api).some((one) => one["x-own"]),
  });
  const { refetch } = query;
  // The coverage is small and live, so it shows the first own operations.
  const hasOwn = useCoverage().data?.own !== undefined;
  useEffect(() => {
    if (hasOwn) void refetch({ cancelRefetch: false });
  }, [hasOwn, refetch]);
  return query;
}

/** OpenAPI document of the control API. */
export const useControlDescription = () => useDocument("description", server.description);

export const useFidelity = () => useDocument("fidelity", server.fidelity);
