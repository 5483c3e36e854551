/** One Postgres for the tests of a project: the one at `DATABASE_URL`, or one of its own. */
import type { TestProject } from "vitest/node";

import { startPostgres } from "./server.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** A database in which each test file makes schemas of its own. */
    postgresUrl: string;
  }
}

export default async function setup(project: TestProject): Promise<(() => Promise<void>) | void> {
  const given = process.env["DATABASE_URL"];
  if (given !== undefined) return project.provide("postgresUrl", given);
  const server = await startPostgres();
  project.provide("postgresUrl", server.url);
  return () => server.stop();
}
