// A process that opens a new schema at a moment that others were told too.
import { openPostgres } from "../src/index.ts";

const [url = "", schema = "", start = ""] = process.argv.slice(2);
while (Date.now() < Number(start));
const store = await openPostgres(url, { schema });
console.log(await store.log.head("acme", "run"));
await store.close();
