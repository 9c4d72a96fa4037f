import { CommandNotFound, type CommandRun, runCommand } from "../client/suite/run-command.ts";
import { ownServer } from "../client/suite/suite-server.ts";
import type { CoverageMatrix } from "../client/types.ts";
import { UsageError } from "./failure.ts";
import { ownScenarios } from "./own-scenarios.ts";
import { untilEnded } from "./until-ended.ts";

/**
 * Runs a command beside a server that all its sandboxes live in, and tells what they saw together (interfaces 11):
 * those that are gone too, of every worker, in whatever language.
 * @throws UsageError
 */
export async function runCovered(
  command: readonly string[],
  { scenarios, json }: { scenarios: string | undefined; json: boolean },
): Promise<{ matrix: CoverageMatrix; failure?: string | undefined }> {
  const server = await ownServer([], ownScenarios(scenarios));
  try {
    const made = await untilEnded((signal) =>
      runCommand(command, {
        env: { UNDERSTUDY_URL: server.url },
        timeoutMs: undefined,
        signal,
        show: [json ? 2 : 1, 2],
      }),
    );
    return { matrix: await server.client.coverage(), failure: failureOf(made) };
  } catch (error) {
    throw error instanceof CommandNotFound ? new UsageError(error.message) : error;
  } finally {
    await server.close();
  }
}

function failureOf({ exit_code, signal }: CommandRun): string | undefined {
  if (signal !== null) return `the command was ended by ${signal}`;
  return exit_code === 0 ? undefined : `the command exited with ${exit_code}`;
}
