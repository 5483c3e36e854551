// What a user gets: every package is packed, installed alone in an empty folder, compiled against
// its shipped declarations and run. Needs the built packages (`pnpm build`).
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";

import { checkTypes, installStrangers, runPrograms } from "../../../scripts/packed/strangers.ts";
import type { Stranger } from "../../../scripts/packed/strangers.ts";
import { packAll } from "../../../scripts/packed/tarballs.ts";
import type {} from "../../../scripts/postgres/global-setup.ts";
import manifest from "../../../package.json" with { type: "json" };

const url = inject("postgresUrl");
const root = join(import.meta.dirname, "../../..");
const folders = readdirSync(join(root, "packages"));
let target: string;
let strangers: Stranger[] = [];

beforeAll(async () => {
  target = mkdtempSync(join(tmpdir(), "holdpoint-packed-"));
  const tarballs = await packAll(root, join(target, "tarballs"));
  const programs = join(root, "apps/proof/src/first-use");
  const nodeTypes = manifest.devDependencies["@types/node"];
  strangers = await installStrangers(tarballs, programs, join(target, "strangers"), nodeTypes);
});

afterAll(() => {
  rmSync(target, { recursive: true, force: true });
});

function strangersOf(folder: string): Stranger[] {
  const found = strangers.filter(({ tarball }) => tarball.folder === folder);
  if (found.length === 0) throw new Error(`${folder} was not packed`);
  return found;
}

describe.each(folders)("the tarball of %s", (folder) => {
  it("ARCH-14 installs alone, imports by each entry and does its main job in silence", async () => {
    for (const stranger of strangersOf(folder)) {
      expect(await runPrograms(stranger, process.execPath, url)).toBe("");
    }
  });

  it("ARCH-14 carries its licence and its source, and no test", () => {
    for (const { tarball } of strangersOf(folder)) {
      expect(tarball.paths).toContain("LICENSE");
      expect(tarball.paths).toContain("src/index.ts");
      const stray = tarball.paths.filter((path) => !/^(dist|src|vectors)\/|^[^/]+$/.test(path));
      expect(stray).toEqual([]);
      expect(tarball.paths.filter((path) => /\.test\.|\.tsbuildinfo$/.test(path))).toEqual([]);
    }
  });
});

it("ARCH-14 is used by a program of its own in apps/proof/src/first-use once it exports anything", () => {
  const unused = folders.filter((folder) => {
    const types = readFileSync(join(root, "packages", folder, "dist/index.d.ts"), "utf8");
    const isEmpty = types.trim() === "export {};";
    return !isEmpty && !strangersOf(folder).some(({ programs }) => programs.includes("program.ts"));
  });
  expect(unused).toEqual([]);
});

it("ARCH-14 ships declarations that compile without our settings", async () => {
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  await expect(checkTypes(strangers, join(target, "strangers"), tsc)).resolves.toBeUndefined();
});
