export interface JunitCase {
  name: string;
  classname: string;
  time_seconds: number;
  /** At most one of failure, error and skipped. */
  failure?: JunitProblem;
  error?: JunitProblem;
  /** The reason. */
  skipped?: string;
  system_out?: string;
  /** The user's file that the case is about, if there is one. */
  file?: string;
}

export interface JunitProblem {
  message: string;
  detail: string;
}

export interface JunitReport {
  name: string;
  suites: { name: string; properties?: readonly { name: string; value: string }[]; cases: JunitCase[] }[];
}

/** Writes JUnit XML that is valid by the schema of Jenkins' xUnit plugin; times are in seconds. */
export function writeJunit(report: JunitReport): string {
  const all = report.suites.flatMap((suite) => suite.cases);
  const suites = report.suites.map(({ name, cases, properties = [] }) => {
    const propertyElements = properties.map((property) => writeElement("property", { ...property })).join("");
    const head = propertyElements === "" ? "" : writeElement("properties", {}, propertyElements);
    return writeElement("testsuite", { name, ...sumTotals(cases) }, head + cases.map(writeCase).join(""));
  });
  // Jenkins' schema has no `skipped` here.
  const { skipped: _, ...sums } = sumTotals(all);
  const root = writeElement("testsuites", { name: report.name, ...sums }, suites.join(""));
  return `<?xml version="1.0" encoding="UTF-8"?>\n${root}`;
}

function sumTotals(cases: JunitCase[]): Record<string, string> {
  const seconds = cases.reduce((sum, one) => sum + one.time_seconds, 0);
  return {
    tests: String(cases.length),
    failures: String(cases.filter((one) => one.failure).length),
    errors: String(cases.filter((one) => one.error).length),
    skipped: String(cases.filter((one) => one.skipped !== undefined).length),
    time: seconds.toFixed(3),
  };
}

function writeCase({ name, classname, time_seconds, ...result }: JunitCase): string {
  const { failure, error, skipped, system_out } = result;
  const children: string[] = [];
  if (failure)
    children.push(writeElement("failure", { message: failure.message }, escapeXml(failure.detail)));
  if (error) children.push(writeElement("error", { message: error.message }, escapeXml(error.detail)));
  if (skipped !== undefined) children.push(writeElement("skipped", { message: skipped }));
  if (system_out !== undefined) children.push(writeElement("system-out", {}, escapeXml(system_out)));
  return writeElement("testcase", { classname, name, time: time_seconds.toFixed(3) }, children.join(""));
}

function writeElement(tag: string, attributes: Record<string, string>, content = ""): string {
  const attributeText = Object.entries(attributes).map(
    ([name, value]) => ` ${name}="${escapeAttribute(value)}"`,
  );
  const open = `<${tag}${attributeText.join("")}`;
  return content === ""
    ? `${open}/>\n`
    : `${open}>${content.startsWith("<") ? "\n" : ""}${content}</${tag}>\n`;
}

const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** Drops characters that XML 1.0 cannot represent: most control characters, lone surrogates, U+FFFE and U+FFFF. */
function escapeXml(text: string): string {
  return text
    .replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, "")
    .replace(/[&<>"]/g, (character) => ENTITIES[character]!);
}

/** Writes line ends as references, since parsers turn them into blanks in attributes. */
function escapeAttribute(text: string): string {
  return escapeXml(text).replace(/[\t\n\r]/g, (character) => `&#${character.charCodeAt(0)};`);
}
