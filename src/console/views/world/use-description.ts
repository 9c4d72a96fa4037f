import { useQuery } from "@tanstack/react-query";
import { server } from "../../api/calls.ts";

/** The control API's own document; the same as long as the server runs. */
export function useDescription() {
  return useQuery({
    queryKey: ["description"],
    queryFn: () => server.description(),
    staleTime: Number.POSITIVE_INFINITY,
  });
}
