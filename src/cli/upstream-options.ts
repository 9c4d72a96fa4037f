import type { UnderstudyOptions } from "../control/understudy-options.ts";
import { readBaseUrl } from "./command.ts";
import { UsageError } from "./failure.ts";
import type { StartFlags } from "./start-flags.ts";

const HEADER = /^([\w!#$%&'*+.^`|~-]+):[ \t]*([\t\x20-\x7e\x80-\xff]*)$/;

/** The upstream that the flags name (interfaces.md 18). @throws UsageError */
export function readUpstream(flags: StartFlags): UnderstudyOptions["upstream"] {
  const { upstream, shared, "upstream-header": headers = [], "allow-upstream": allowAddresses } = flags;
  if (upstream === undefined) {
    if (headers.length > 0 || allowAddresses !== undefined)
      throw new UsageError("--upstream-header and --allow-upstream need --upstream URL");
    return undefined;
  }
  const url = readBaseUrl("--upstream", upstream, "https://api.example.test");
  if (shared && allowAddresses === undefined)
    throw new UsageError(
      "--upstream with --shared needs --allow-upstream CIDR, the range of the upstream's addresses",
    );
  const pairs = headers.map((text) => {
    const [, name, value] = HEADER.exec(text) ?? [];
    if (name === undefined)
      throw new UsageError(
        `--upstream-header takes "Name: value", not ${JSON.stringify(text.split(":")[0])}`,
      );
    return [name, value!] as const;
  });
  return { url, headers: pairs, ...(allowAddresses && { allowAddresses }) };
}
