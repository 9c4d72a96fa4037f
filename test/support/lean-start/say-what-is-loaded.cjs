/** Read by `--require` before a command: says, two seconds later, what it made Node load that not every server needs. */
const METHODS = ["toLocaleString", "localeCompare", "normalize"];

const used = new Set();
for (const name of Object.keys(Object.getOwnPropertyDescriptors(Intl))) {
  const original = Intl[name];
  if (typeof original !== "function") continue;
  Intl[name] = new Proxy(original, {
    construct(target, given) {
      used.add(`Intl.${name}`);
      return new target(...given);
    },
  });
}
for (const { prototype } of [String, Number, Date]) {
  for (const name of METHODS.filter((each) => Object.hasOwn(prototype, each))) {
    const original = prototype[name];
    prototype[name] = function (...given) {
      used.add(name);
      return original.apply(this, given);
    };
  }
}
setTimeout(() => {
  const fetching = process.moduleLoadList.filter((name) => name.includes("undici"));
  process.stderr.write(`loaded: ${JSON.stringify([...used, ...fetching])}\n`);
}, 2000);
