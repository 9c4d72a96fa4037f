import { QueryClient, type UseQueryResult, useMutation, useQuery } from "@tanstack/react-query";
import { useSandboxName } from "../address.ts";
import { type SandboxCalls, sandboxCalls, server } from "./calls.ts";
import type { ControlError } from "./fetch-control.ts";

declare module "@tanstack/react-query" {
  interface Register {
    defaultError: ControlError;
    queryMeta: {
      /** Asked anew while the sandbox is busy, at most once a second; false for what is dear and seldom changes. */
      live?: boolean;
    };
  }
}

/**
 * Nothing is retried here: the live stream notices when the server is back, and everything that is shown is then
 * asked anew.
 */
export function createQueries(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: { retry: false, staleTime: 1000, refetchOnWindowFocus: "always" },
      mutations: { retry: false },
    },
  });
}

/** Everything that is shown of one sandbox stands below this key. */
export const sandboxKey = (name: string) => ["sandbox", name] as const;

/**
 * What a call says of the sandbox in the address; kept up to date while the sandbox is busy, and where nothing tells
 * of a change, such as that of a file, `everyMs`.
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

/** Changes something of the sandbox in the address, and has everything that is shown of it asked anew. */
export function useSandboxChange<Input, T>(change: (calls: SandboxCalls, input: Input) => Promise<T>) {
  const name = useSandboxName();
  return useMutation<T, ControlError, Input>({
    mutationFn: (input) => change(sandboxCalls(name), input),
    onSettled: (_data, _error, _input, _result, { client }) =>
      client.invalidateQueries({ queryKey: sandboxKey(name) }),
  });
}

/** Makes, changes or removes a sandbox, whichever it is, and has all that is shown asked anew. */
export function useServerChange<Input, T>(change: (input: Input) => Promise<T>) {
  return useMutation<T, ControlError, Input>({
    mutationFn: change,
    onSettled: (_data, _error, _input, _result, { client }) => client.invalidateQueries(),
  });
}

const SANDBOXES_MS = 5000;

/** All sandboxes. Nothing tells of one that is made or deleted elsewhere, so it is asked for now and then. */
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

/** The emulated API's own description; it does not change while a server runs. */
export function useOpenApi() {
  return useQuery({
    queryKey: ["openapi"],
    queryFn: () => server.openApi(),
    staleTime: Number.POSITIVE_INFINITY,
  });
}
