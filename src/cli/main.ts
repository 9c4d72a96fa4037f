import { assemble } from "../understudy.ts";
const understudy = assemble({ fixture: "reference" });
console.log(await understudy.listen(4747, "127.0.0.1"));
