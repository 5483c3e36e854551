// Runs the packed packages on the oldest Node that they support and on the current LTS line: the
// tests themselves run on the pinned Node alone. Needs the built packages (`pnpm build`).
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import manifest from "../package.json" with { type: "json" };
import { fetchNode } from "./packed/nodes.ts";
import { startPostgres } from "./postgres/server.ts";
import { installStrangers, runPrograms } from "./packed/strangers.ts";
import { packAll } from "./packed/tarballs.ts";

const VERSIONS = ["22.18.0", "24.21.0"];

const root = join(import.meta.dirname, "..");
const target = mkdtempSync(join(tmpdir(), "holdpoint-smoke-"));
const postgres = await startPostgres();
try {
  const cache = join(root, "node_modules/.cache/nodes");
  const nodes = Promise.all(VERSIONS.map((version) => fetchNode(version, cache)));
  nodes.catch(() => {}); // told below, where it is awaited
  const strangers = await installStrangers(
    await packAll(root, join(target, "tarballs")),
    join(root, "apps/proof/src/first-use"),
    join(target, "strangers"),
    manifest.devDependencies["@types/node"],
  );
  for (const [at, node] of (await nodes).entries()) {
    const printed = await Promise.all(
      strangers.map((stranger) => runPrograms(stranger, node, postgres.url)),
    );
    const noise = printed.join("");
    if (noise !== "") throw new Error(`printed on Node ${VERSIONS[at]}:\n${noise}`);
    const programs = strangers.reduce((sum, stranger) => sum + stranger.programs.length, 0);
    console.log(
      `Node ${VERSIONS[at]}: ${programs} programs of ${strangers.length} installs passed`,
    );
  }
} finally {
  await postgres.stop();
  rmSync(target, { recursive: true, force: true });
}
