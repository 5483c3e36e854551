import { describe, expect, it } from "vitest";

import { PROPERTIES } from "./properties.ts";

/** Cases of each property in every run of the tests; `test/long/properties.ts` runs a million. */
const RUNS = 10_000;

describe("properties of every sealable value", () => {
  it.each(PROPERTIES)("$title", ({ run }) => expect(() => run(RUNS)).not.toThrow());
});
