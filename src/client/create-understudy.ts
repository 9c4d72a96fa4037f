import { assemble, type UnderstudyOptions } from "../understudy.ts";
import { connect, type UnderstudyClient } from "./connect.ts";
import type { ClockChange, FixtureInput } from "./types.ts";

export interface CreateOptions extends Omit<UnderstudyOptions, "fixture" | "clock"> {
  /** A fixture's name, a path, or a fixture as an object; `reference` unless given. */
  fixture?: FixtureInput;
  clock?: ClockChange;
  /** A free port unless given. */
  port?: number;
}

export interface LocalUnderstudy extends UnderstudyClient {
  /** Ends every sandbox and the server; open requests finish first. */
  close(): Promise<void>;
}

/**
 * A server in this process, on a free loopback port (interfaces 8).
 * @throws DocumentError when the fixture is unknown or wrong
 */
export async function createUnderstudy(options: CreateOptions = {}): Promise<LocalUnderstudy> {
  const { clock, port = 0, ...rest } = options;
  const understudy = assemble({
    ...rest,
    clock: clock && { ...clock, now: clock.now === undefined ? undefined : Date.parse(clock.now) },
  });
  const url = await understudy.listen(port, "127.0.0.1");
  return { ...connect(url), close: () => understudy.close() };
}
