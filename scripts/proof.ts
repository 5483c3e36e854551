/** `pnpm proof NAME [--quick] [TIMES]`: runs a proof of `apps/proof`, with a server where it asks for one. */
import { prove } from "../apps/proof/src/prove.ts";
import { startPostgres } from "./postgres/server.ts";

await prove(process.argv.slice(2), startPostgres);
