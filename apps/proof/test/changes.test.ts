import { describe, expect, it } from "vitest";

import {
  hasReleasedChange,
  missingFromFirstRelease,
} from "../../../scripts/changes/first-release.ts";

const changeset =
  '---\n"@holdpoint/seal": minor\n---\n\nFirst release of "@holdpoint/flow": soon.\n';

function changed(name: string, version = "0.0.0") {
  return { name: `@holdpoint/${name}`, version, changed: true };
}

describe("a changed package", () => {
  it("is covered before its first release by a pending changeset that names it", () => {
    expect(missingFromFirstRelease([changed("seal")], [changeset])).toEqual([]);
    expect(missingFromFirstRelease([changed("seal"), changed("flow")], [changeset])).toEqual([
      "@holdpoint/flow",
    ]);
    expect(missingFromFirstRelease([changed("seal")], [])).toEqual(["@holdpoint/seal"]);
  });

  it("is a matter of its own changeset once it was released", () => {
    expect(missingFromFirstRelease([changed("flow", "0.1.0")], [])).toEqual([]);
    expect(hasReleasedChange([changed("seal"), changed("flow", "0.1.0")])).toBe(true);
  });

  it("is none where the branch did not touch it", () => {
    const packages = [{ ...changed("flow", "0.1.0"), changed: false }];
    expect(hasReleasedChange([...packages, changed("seal")])).toBe(false);
    expect(missingFromFirstRelease([{ ...changed("flow"), changed: false }], [])).toEqual([]);
  });
});
