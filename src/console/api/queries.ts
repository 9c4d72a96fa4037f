import { QueryClient, type UseQueryResult, useMutation, useQuery } from "@tanstack/react-query";
import { useSandboxName } from "../address.ts";
import { type SandboxCalls, sandboxCalls, server } from "./calls.ts";
import type { ControlError } from "./fetch-control.ts";

declare module "@tanstack/react-query" {
  interface Register {
    defaultError: ControlError;
    queryMeta: {
      /** Refetched while the sandbox is busy, at most once a second; false for slow queries that rarely change. */
      live?: boolean;
    };
  }
}

/**
 * Queries are not retried: when the live stream reconnects, every query is refetched.
 */
export function createQueries(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: { retry: false, staleTime: 1000, refetchOnWindowFocus: "always" },
      mutations: { retry: false },
    },
  });
}

/** Prefix of all query keys of one sandbox. */
export const sandboxKey = (name: string) => ["sandbox", name] as const;

/**
 * Queries the sandbox in the address. Refetches while the sandbox is busy (`live`), or every `everyMs` where the live
 * stream does not report changes.
 */
export function useSandboxQuery<T>(
  key: readonly unknown[],
  ask: (calls: SandboxCalls) => Promise<T>,
  options: { live?: boolean; enabled?: boolean; everyMs?: number } = {},
): UseQueryResult<T, ControlError> {
  const name = useSandboxName();
  return useQuery({
    queryKey: [...sandboxKey(name), ...key],
    queryFn: () => ask(sandboxCalls(name)),
    enabled: options.enabled ?? true,
    refetchInterval: options.everyMs ?? false,
    meta: { live: options.live ?? true },
  });
}

/** Changes the sandbox in the address and refetches all its queries. */
export function useSandboxChange<Input, T>(change: (calls: SandboxCalls, input: Input) => Promise<T>) {
  const name = useSandboxName();
  return useMutation<T, ControlError, Input>({
    mutationFn: (input) => change(sandboxCalls(name), input),
    onSettled: (_data, _error, _input, _result, { client }) =>
      client.invalidateQueries({ queryKey: sandboxKey(name) }),
  });
}

/** Creates, changes or deletes any sandbox and refetches all queries. */
export function useServerChange<Input, T>(change: (input: Input) => Promise<T>) {
  return useMutation<T, ControlError, Input>({
    mutationFn: change,
    onSettled: (_data, _error, _input, _result, { client }) => client.invalidateQueries(),
  });
}

const SANDBOXES_MS = 5000;

/** All sandboxes; polled, since no stream reports those that other clients create or delete. */
export function useSandboxes() {
  return useQuery({
    queryKey: ["sandboxes"],
    queryFn: () => server.sandboxes(),
    refetchInterval: SANDBOXES_MS,
  });
}

export function useSandbox() {
  return useSandboxQuery(["show"], (calls) => calls.show());
}

/** OpenAPI document of the emulated API; it does not change while a server runs. */
export function useOpenApi() {
  return useQuery({
    queryKey: ["openapi"],
    queryFn: () => server.openApi(),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** OpenAPI document of the control API; it does not change while a server runs. */
export function useDescription() {
  return useQuery({
    queryKey: ["description"],
    queryFn: () => server.description(),
    staleTime: Number.POSITIVE_INFINITY,
  });
}
