import { spawn } from "node:child_process";
import { once } from "node:events";
import { openSync, readdirSync } from "node:fs";
import { text } from "node:stream/consumers";

import { describe, expect, it } from "vitest";

import { deskArguments } from "./desk-process.ts";
import { temporaryFolder } from "./folder.ts";

/** The demo as a process, with its temporary folders in one of the test's. */
function demo(stdout: "pipe" | number = "pipe") {
  const temporary = temporaryFolder();
  const { file, args, options } = deskArguments(["demo"], { TMPDIR: temporary });
  const child = spawn(file, args, { ...options, stdio: ["ignore", stdout, "pipe"] });
  const ended = Promise.all([once(child, "exit"), text(child.stderr!)]);
  return { child, temporary, ended };
}

describe("a demo that is ended early", () => {
  it("ends quietly where nobody reads on, and leaves nothing behind", async () => {
    const { child, temporary, ended } = demo();
    await once(child.stdout!, "data");
    child.stdout!.destroy();
    const [[code, signal], stderr] = await ended;
    expect({ code, signal, stderr }).toEqual({ code: 141, signal: null, stderr: "" });
    expect(readdirSync(temporary)).toEqual([]);
  });

  it("says in a line that its output can't be written, and leaves nothing behind", async () => {
    const { temporary, ended } = demo(openSync("/dev/full", "w"));
    const [[code], stderr] = await ended;
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: "the output can't be written: the disk is full\n",
    });
    expect(readdirSync(temporary)).toEqual([]);
  });

  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const)("leaves nothing behind when it is told to stop by %s", async (name, expected) => {
    const { child, temporary, ended } = demo();
    for await (const chunk of child.stdout!) {
      if (String(chunk).includes("50 of 200")) break; // its worker is at work
    }
    child.kill(name);
    const [[code, signal], stderr] = await ended;
    expect({ code, signal, stderr }).toEqual({ code: expected, signal: null, stderr: "" });
    expect(readdirSync(temporary)).toEqual([]);
  });
});
