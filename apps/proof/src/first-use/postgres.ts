// All ports in one schema: a row is written by compare-and-set, stands when it is opened again, and is lost to nobody.
import { isPostgresError, openPostgres } from "@holdpoint/postgres";

const url = process.env["DATABASE_URL"] ?? "";
const schema = `first_use_${process.pid}`;
const first = await openPostgres(url, { schema });
const write = {
  statement: "log.append",
  scope: "default",
  key: "run-1/000000000001",
  expect: 0,
  values: { run: "run-1", revision: 1, text: "sealed" },
} as const;
const done = await first.commit("attempt-1", [write]);
if (done.status !== "done") throw new Error(`the commit is ${done.status}`);
await first.close();

const second = await openPostgres(url, { schema });
const refused = await second.commit("attempt-2", [write]);
if (refused.status !== "refused") throw new Error("a revision was taken twice");
if ((await second.log.head("default", "run-1")) !== 1) throw new Error("the entry is gone");
await second.close();

let refusal: unknown;
try {
  await openPostgres(url, { schema: "pg_catalog" });
} catch (error) {
  refusal = error;
}
if (!isPostgresError(refusal, "option-invalid")) throw new Error("a foreign schema opens");
