import { control, openClient } from "../client.mjs";
import { atMost, makeRow, ratioAtMost } from "../rows.mjs";
import { computeMedian, MB } from "../statistics.mjs";
import { asAda, startUnderstudy, writeFixtureFile } from "../subjects/understudy.mjs";

export const about = "reparent of a department with 10,000 descendants among 50,000";

const DESCENDANTS = 10_000;
const OTHERS = 40_000;
const MOVES = 30;
const KEPT = 10;
const TOP = "dept_bench_top";

export async function measure({ log }) {
  log("starting with 50,000 departments");
  const plain = await startUnderstudy({ probe: true });
  const server = await startUnderstudy({
    probe: true,
    fixture: writeFixtureFile({ departments: createDepartments() }),
  });
  const api = openClient(server.url, asAda);
  const state = control(server);
  const times = [];
  for (let move = 0; move < MOVES; move++) {
    log(`move ${move + 1} of ${MOVES}`);
    times.push(await timeMove(api, move));
  }
  await checkDescendant(state, MOVES - 1);
  const kept = await measureBytesPerState({ server, api, state, log });
  const copy = (await server.ask("memory")).held - kept * KEPT - (await plain.ask("memory")).held;
  await Promise.all([api.close(), state.close(), server.stop(), plain.stop()]);
  return [
    makeRow({
      what: "reparent 10,000 descendants, over HTTP",
      value: computeMedian(times),
      unit: "ms",
      goal: atMost(25, "ms"),
    }),
    makeRow({
      what: "heap per state kept before such a move",
      value: kept / MB,
      unit: "MB",
      baseline: "a copy of the 50,000",
      ratio: kept / copy,
      goal: ratioAtMost(0.3),
    }),
  ];
}

/** A tree of ten children per department below TOP, and four times as many departments outside it. */
function createDepartments() {
  const makeDescendant = (index) => ({
    id: `dept_bench_${index}`,
    name: `Bench ${index}`,
    parent_id: index < 10 ? TOP : `dept_bench_${Math.floor(index / 10) - 1}`,
    member_count: index % 50,
  });
  const makeSibling = (index) => ({
    id: `dept_other_${index}`,
    name: `Other ${index}`,
    parent_id: index < 10 ? "dept_acme" : `dept_other_${Math.floor(index / 10) - 1}`,
    member_count: index % 50,
  });
  return [
    { id: TOP, name: "Bench", parent_id: "dept_platform", member_count: 0 },
    ...Array.from({ length: DESCENDANTS }, (_, index) => makeDescendant(index)),
    ...Array.from({ length: OTHERS }, (_, index) => makeSibling(index)),
  ];
}

const getParent = (move) => (move % 2 === 0 ? "dept_ops" : "dept_platform");

async function timeMove(api, move) {
  const path = `/v1/organizations/org_acme/departments/${TOP}/reparent`;
  const start = performance.now();
  const moved = await api.post(path, { new_parent_id: getParent(move) });
  const elapsed = performance.now() - start;
  if (moved.parent_id !== getParent(move))
    throw new Error(`the move did not happen: ${JSON.stringify(moved)}`);
  return elapsed;
}

/** Checks that the deepest descendant moved too; otherwise the time would be meaningless. */
async function checkDescendant(state, move) {
  const { path } = await state.get(`/sandboxes/default/state/departments/dept_bench_${DESCENDANTS - 1}`);
  if (!path.includes(`${getParent(move)}/${TOP}/`)) throw new Error(`a descendant did not follow: ${path}`);
}

/** Returns the bytes of heap of each additional state, if a snapshot keeps the state before each move. */
async function measureBytesPerState({ server, api, state, log }) {
  const before = await server.ask("memory");
  for (let index = 0; index < KEPT; index++) {
    log(`keeping state ${index + 1} of ${KEPT}`);
    await state.post("/sandboxes/default/snapshots", { name: `bench-${index}` });
    await timeMove(api, MOVES + index);
  }
  return ((await server.ask("memory")).held - before.held) / KEPT;
}
