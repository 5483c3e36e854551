// A README's install line is enough for its own samples: pnpm links nothing that is not asked for.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

const packages = join(import.meta.dirname, "../../../packages");

describe("a package's README", () => {
  it.each(readdirSync(packages))("installs what its samples import: %s", (folder) => {
    const readme = readFileSync(join(packages, folder, "README.md"), "utf8");
    const installed = (/^pnpm add (.*)$/m.exec(readme)?.[1] ?? "").split(" ");
    const imported = [...readme.matchAll(/from "(@holdpoint\/[a-z]+)/g)].map(([, name]) => name);
    expect(imported.length).toBeGreaterThan(0);
    expect(installed).toEqual(expect.arrayContaining(imported));
  });

  it.each(readdirSync(packages))("links to nothing outside of its own tarball: %s", (folder) => {
    const readme = readFileSync(join(packages, folder, "README.md"), "utf8");
    expect(readme).not.toMatch(/\]\(\.\.?\//);
  });
});
