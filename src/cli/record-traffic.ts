import { isLocalhost } from "../engine/contract/http-url.ts";
import { pluralize } from "../engine/contract/text.ts";
import { HarFile } from "../tools/har/har-file.ts";
import { readTarget } from "../tools/input.ts";
import { createRecorder, type RecordedEntry } from "../tools/traffic/recorder.ts";
import { CheckFailed, UsageError } from "./failure.ts";
import { onTermination, printError, printJsonLine, printLines } from "./process.ts";
import { makeParentFolder, requireOutputFile } from "./write-files.ts";

interface RecordOptions {
  target: string;
  out: string;
  port: number;
  host: string;
  force: boolean;
  json: boolean;
  version: string;
}

/**
 * Records until the first SIGINT, SIGTERM or SIGHUP (the terminal is closed).
 * @throws UsageError, InputError; CheckFailed if exchanges could not be written
 */
export async function record(options: RecordOptions): Promise<void> {
  const { out, json } = options;
  const target = readTarget(options.target);
  refuseOwnAddress(target, options.port);
  let file: HarFile | undefined;
  let firstWriteError: string | undefined;
  const recorder = await createRecorder({
    ...options,
    target,
    onExchange(entry) {
      try {
        file?.add(entry);
        if (json) printJsonLine(summarize(entry));
        else printLines(formatLine(entry));
      } catch (error) {
        firstWriteError ??= (error as Error).message;
        printError(`not recorded, ${(error as Error).message}: ${formatLine(entry)}`);
      }
    },
  });
  try {
    // After the port is bound: if the port is taken, the existing file stays.
    file = openArchive(options);
  } catch (error) {
    await recorder.close();
    throw error;
  }
  const { url } = recorder;
  const ended = new Promise<void>((resolve) => void onTermination(resolve));
  if (json) printJsonLine({ url, target, out, pid: process.pid });
  else printLines(`Call ${url} instead of ${target}; ${out} records it. Ctrl-C ends it.`);
  await ended;
  await recorder.close();
  file.close();
  if (!json) printLines(`${pluralize(file.count, "exchange")} in ${out}`);
  if (firstWriteError !== undefined)
    throw new CheckFailed(`${out} lacks exchanges that could not be written: ${firstWriteError}`);
}

const LOCAL_HOSTS = ["127.0.0.1", "[::1]"];

/** @throws UsageError */
function refuseOwnAddress(target: string, port: number): void {
  const { protocol, hostname, port: givenPort } = new URL(target);
  const targetPort = Number(givenPort) || (protocol === "https:" ? 443 : 80);
  if (targetPort === port && (LOCAL_HOSTS.includes(hostname) || isLocalhost(hostname)))
    throw new UsageError(
      `--target ${target} is the address on which the recorder would listen; choose another --port`,
    );
}

/** @throws UsageError */
function openArchive({ out, version, force }: RecordOptions): HarFile {
  requireOutputFile(out, force);
  makeParentFolder(out);
  return new HarFile(out, { version, replace: force });
}

function summarize({ request, response, time, _error }: RecordedEntry) {
  const { method, url } = request;
  return { method, url, status: response.status, time, ...(_error === undefined ? {} : { error: _error }) };
}

function formatLine({ request, response, time, _error }: RecordedEntry): string {
  const { pathname, search } = new URL(request.url);
  return `${request.method} ${pathname}${search} -> ${_error ?? response.status} (${Math.round(time)} ms)`;
}
