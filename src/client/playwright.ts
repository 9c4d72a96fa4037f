export { assemble } from "../understudy.ts";
