import { makeRow, ratioAtMost, toFailedRow } from "../rows.mjs";
import { computeMedian, computeMedianRatio } from "../statistics.mjs";
import {
  asAdaJson,
  asDan,
  controlHeaders,
  startUnderstudy,
  writeFixtureFile,
} from "../subjects/understudy.mjs";
import { takeTurns } from "../turns.mjs";

export const about = "get and list page with 1,000 and with 1,000,000 records";

const SMALL = 1000;
const LARGE = 1_000_000;
const STATE = "/_control/sandboxes/default/state/departments";

// Each case has one large collection. It reads a record and a page in the middle.
const CASES = [
  {
    label: "departments",
    fixture: (count) => ({ generate: { departments: count } }),
    calls: (count) => [
      { what: "get a record", paths: [`${STATE}/dept_infra`], as: controlHeaders },
      { what: "list page", paths: [`${STATE}?limit=50&offset=${count / 2}`], as: controlHeaders },
    ],
  },
  {
    label: "tracks of a collection",
    fixture: (count) => ({ music_collections: [{ id: "mcoll_focus", tracks: count }] }),
    calls: (count) => [
      {
        what: "list page",
        paths: [`/v1/music/org_acme/collections/mcoll_focus/tracks?limit=50&offset=${count / 2}`],
        as: () => asDan,
      },
    ],
  },
  {
    label: "change logs",
    fixture: (count) => ({ dashboard_change_logs: { org_acme: count } }),
    calls: (count) => [
      {
        what: "list page with a filter",
        method: "POST",
        paths: ["/v1/organizations/org_acme/dashboard/change-logs"],
        bodies: [JSON.stringify({ resource_type: "assistant", skip: count / 100, take: 50 })],
        as: () => asAdaJson,
      },
    ],
  },
];

export async function measure(run) {
  const rows = [];
  for (const one of CASES) {
    try {
      rows.push(...(await measureCase(one, run)));
    } catch (error) {
      rows.push(toFailedRow(`growth, ${one.label}`, "Understudy", error));
    }
  }
  return rows;
}

async function measureCase({ label, fixture, calls }, run) {
  const servers = [];
  for (const count of [SMALL, LARGE]) {
    run.log(`${label}: starting with ${count.toLocaleString("en-US")}`);
    const options = { fixture: writeFixtureFile(fixture(count)), nodeArgs: ["--max-old-space-size=6144"] };
    servers.push({ count, server: await startUnderstudy(options) });
  }
  const rows = [];
  for (const index of calls(SMALL).keys()) {
    const targets = servers.map(({ count, server }) => {
      const { as, ...call } = calls(count)[index];
      return { ...call, name: `${label}, ${count}`, url: server.url, headers: as(server) };
    });
    // The first read builds a collection; a million records take longer than a warm-up.
    for (const { url, paths, headers, bodies, method = "GET" } of targets) {
      await fetch(url + paths[0], { method, headers, body: bodies?.[0] });
    }
    const [small, large] = (await takeTurns(targets, run)).map((turns) => turns.map(({ rps }) => rps));
    rows.push(
      makeRow({
        what: `${calls(SMALL)[index].what}, ${label}: 1,000,000`,
        value: computeMedian(large),
        unit: "req/s",
        baseline: `1,000 (time)`,
        ratio: computeMedianRatio(small, large),
        goal: ratioAtMost(1.5),
      }),
    );
  }
  await Promise.all(servers.map(({ server }) => server.stop()));
  return rows;
}
