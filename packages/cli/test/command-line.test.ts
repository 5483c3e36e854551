import { execFile } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

import { PURPOSES, sign } from "@holdpoint/seal";
import { describe, expect, it } from "vitest";

import { commands } from "../src/catalog.ts";
import { givenTo } from "../src/given.ts";
import { isCliError, CliError } from "../src/index.ts";
import { deskFolder, freshFolder, holdpoint, keyring } from "./place.ts";

describe("the command line", () => {
  it("DESK-30 says what there is, and what each command takes", async () => {
    const help = await holdpoint(freshFolder());
    expect(help.code).toBe(0);
    for (const { path } of commands) {
      expect(help.out).toContain(path);
      const own = await holdpoint(freshFolder(), ...path.split(" "), "--help");
      expect(own).toMatchObject({ code: 0, err: "" });
      expect(own.out).toContain("--json");
    }
  });

  it.each([
    ["an unknown command", ["payments"]],
    ["half a command", ["runs"]],
    ["an unknown part of a group", ["runs", "stop"]],
    ["an unknown option", ["runs", "list", "--al"]],
    ["an option without its value", ["runs", "list", "--limit"]],
    ["an empty value", ["runs", "list", "--store="]],
    ["a number that is none", ["runs", "list", "--limit", "0"]],
    ["a number past its bound", ["runs", "list", "--limit", "501"]],
    ["a state that is none", ["approvals", "list", "--state", "open"]],
    ["a missing operand", ["approvals", "show"]],
    ["an operand too many", ["doctor", "please"]],
  ])("DESK-30 refuses %s with exit code 2", async (_, words) => {
    const ran = await holdpoint(deskFolder, ...words);
    expect(ran).toMatchObject({ code: 2, out: "" });
    expect(ran.err).not.toBe("");
    const json = await holdpoint(deskFolder, ...words, "--json");
    expect(json).toMatchObject({ code: 2, err: "" });
    expect(json.json()).toMatchObject({ error: { code: "usage" } });
  });

  it.each(["-Bc4efGhijKlmnopqrstu_", "--c4efGhijKlmnopqrstu_", "-Bc4efGhijKlmnopqrstu-"])(
    "DESK-30 takes ids and digests as they are shown, with a dash before them: %s",
    (id) => {
      const approve = commands.find(({ path }) => path === "approvals approve")!;
      for (const words of [
        [id, "--digest", id, "--note", "-", "--json"],
        ["--json", "--digest", id, "--note", "-", "--", id],
      ]) {
        const given = givenTo(approve, words);
        expect(given.operand(0)).toBe(id);
        expect([given.text("digest"), given.text("note")]).toEqual([id, "-"]);
        expect(given.flag("json")).toBe(true);
      }
    },
  );

  it("DESK-30 makes no store where there is none, and shows no password", async () => {
    const folder = freshFolder();
    const none = await holdpoint(folder, "runs", "list");
    expect(none).toMatchObject({ code: 1 });
    expect(none.err).toContain("--store");
    const file = join(folder, "typo.db");
    expect(await holdpoint(folder, "runs", "list", "--store", "typo.db")).toMatchObject({
      code: 1,
    });
    expect(existsSync(file)).toBe(false);
    writeFileSync(
      file,
      "not a database, by far, whatever the file is called, as anybody can see here",
    );
    const foreign = await holdpoint(folder, "runs", "list", "--store", "typo.db", "--json");
    expect(foreign.json()).toMatchObject({ error: { code: "store-unusable" } });
    const server = await holdpoint(folder, "runs", "list", "--store", "postgres://me:secret@127.0.0.1:9/x"); // prettier-ignore
    expect(server.code).toBe(1);
    expect(server.err).not.toContain("secret");
  });

  it.each([
    ["nothing by default", "export const keyring = 1;", "no default export"],
    ["a name that is no setting", "export default { keyrings: 1 };", "'keyrings'"],
    ["a setting of another kind", "export default { definitions: {} };", "'definitions'"],
    ["a module that throws", "throw new Error('no key here');", "no key here"],
  ])("DESK-30 refuses a config with %s", async (_, text, says) => {
    const folder = freshFolder();
    writeFileSync(join(folder, "holdpoint.config.mjs"), text);
    const ran = await holdpoint(folder, "runs", "list", "--store", "any.db");
    expect(ran).toMatchObject({ code: 1, out: "" });
    expect(ran.err).toContain(says);
  });

  it("DESK-30 shows and checks a checkpoint in a file", async () => {
    const folder = freshFolder();
    const header = { run: "run-1", flow: "refund" };
    const { text } = sign("{}", { keyring, purpose: PURPOSES.checkpoint, header });
    const file = join(folder, "paused.txt");
    writeFileSync(file, text);
    const shown = await holdpoint(folder, "checkpoint", "show", file);
    expect(shown.out).toContain("run-1");
    expect(shown.out).toContain("nothing of this was verified");
    const whole = await holdpoint(deskFolder, "checkpoint", "verify", file);
    expect(whole).toMatchObject({ code: 0 });
    writeFileSync(file, text.replace("run-1", "run-2"));
    expect(await holdpoint(deskFolder, "checkpoint", "verify", file)).toMatchObject({ code: 3 });
    writeFileSync(file, "nothing");
    expect(await holdpoint(folder, "checkpoint", "show", file)).toMatchObject({ code: 3 });
  });

  it("DESK-30 is a program, whose exit code says how it went", async () => {
    const main = join(import.meta.dirname, "../src/main.ts");
    const program = (...words: string[]) =>
      promisify(execFile)(process.execPath, ["--conditions=@holdpoint/source", main, ...words], {
        cwd: deskFolder,
      });
    expect((await program("--help")).stdout).toContain("approvals list");
    const failed = program("runs", "list", "--store", "none.db");
    await expect(failed).rejects.toMatchObject({ code: 1 });
    await expect(program("nothing")).rejects.toMatchObject({ code: 2 });
  });

  it("DESK-30 ARCH-11 knows its own errors by their code, also across copies", () => {
    const error = new CliError("usage", "no");
    expect(isCliError(error)).toBe(true);
    expect(isCliError(error, "not-found")).toBe(false);
    expect(isCliError(new Error("usage"))).toBe(false);
  });
});
