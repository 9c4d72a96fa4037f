import { client } from "./api/client.gen.ts";
import * as sdk from "./api/sdk.gen.ts";
import { makeCalls, type Sdk } from "./issue-tracker-calls.ts";

const [url, key] = process.argv.slice(2);
client.setConfig({ baseUrl: `${url}/v2`, auth: key });
const count = await makeCalls(sdk as unknown as Sdk);
console.log(`${count} calls`);
