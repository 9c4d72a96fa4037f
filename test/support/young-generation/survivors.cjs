/** Read by `--require` before a command: makes objects that live for a while, so that the young generation grows as far as it may. */
const { getHeapSpaceStatistics } = require("node:v8");

const KEPT = 8;
const ROUNDS = 100;
/** About a megabyte in each. */
const OBJECTS = 16_000;

const kept = [];
let rounds = 0;
const timer = setInterval(() => {
  kept[rounds % KEPT] = Array.from({ length: OBJECTS }, (_, index) => ({ index, round: rounds, next: null }));
  rounds += 1;
  if (rounds < ROUNDS) return;
  clearInterval(timer);
  const { space_size } = getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space");
  process.stderr.write(`young generation of ${space_size} bytes\n`);
}, 40);
