import { expect, it } from "vitest";

import { outputOf } from "../src/sync-readme.ts";

it("WF-50 the lifecycle sample starts, is built anew over its file, resumes, cancels and reads its history", () => {
  expect(outputOf("apps/examples/src/lifecycle.ts").split("\n")).toEqual([
    "interrupted",
    "interrupted ask:evidence",
    "input-invalid",
    "accepted",
    "C-7 is settled",
    "final",
    "cancelled",
    "true 9",
    "started; begins work at collect#1; asks evidence; waits at collect#1; paused; answered by rita; finished work at collect#1; goes on; completed",
    "",
  ]);
});
