import { randomBytes } from "node:crypto";
import { copyFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { describe, expect, it } from "vitest";

import { runCommand, type Settings } from "../src/command.ts";
import { sentence } from "../src/failure.ts";
import { sample } from "../src/sample.ts";
import { Screen } from "../src/screen.ts";
import { runDesk } from "./desk-process.ts";
import { temporaryFolder } from "./folder.ts";

/** The first requests of the sample, with the bad line among them. */
function someRequests(folder: string): string {
  const file = join(folder, "some.jsonl");
  const lines = readFileSync(sample.requests, "utf8").split("\n").slice(0, 20);
  writeFileSync(file, `${lines.join("\n")}\n`);
  return file;
}

/** Runs a command in this process; answers what it printed. */
async function desk(args: readonly string[], settings: Settings = {}): Promise<string> {
  let printed = "";
  const write = (text: string): void => void (printed += text);
  await runCommand(args, settings, new Screen({ write, live: false, coloured: false }));
  return printed;
}

/** The one line that a command fails with. */
async function failure(args: readonly string[], settings?: Settings): Promise<string> {
  const { stdout, error } = await desk(args, settings).then(
    (printed) => ({ stdout: printed, error: undefined }),
    (thrown: unknown) => ({ stdout: "", error: thrown }),
  );
  if (error === undefined) throw new Error(`it did not fail: ${stdout}`);
  return sentence(error);
}

function foreignDatabase(file: string): void {
  const database = new DatabaseSync(file);
  database.exec("create table theirs (id integer); pragma user_version = 3");
  database.close();
}

const paymentsIn = (folder: string): unknown => {
  const bank = new DatabaseSync(join(folder, "provider.db"));
  const found = bank.prepare("select count(*) as made from payments").get();
  bank.close();
  return found?.["made"];
};

describe("desk import", { timeout: 60_000 }, () => {
  it("DESK-01 works a file through, names its bad line, and pays nothing again when repeated", async () => {
    const folder = temporaryFolder();
    const args = ["import", someRequests(folder), "--dir", folder];
    const first = await desk(args);
    expect(first).toContain("line 13   it is not JSON");
    expect(first).toMatch(/^ {2}\d+ are done, \d+ wait for a person$/m);
    const paid = paymentsIn(folder);
    expect(paid).toBeGreaterThan(0);
    expect(await desk(args)).toBe(first);
    expect(paymentsIn(folder)).toBe(paid);
  });

  it("shows neither names nor amounts of what waits", async () => {
    const folder = temporaryFolder();
    const printed = await desk(["import", someRequests(folder), "--dir", folder]);
    expect(printed).toContain("Review a refund");
    expect(printed).not.toMatch(/Tanaka|example\.com|minor|EUR/);
  });

  it("refuses a store under a wrong key by the name of the setting, and loses nothing", async () => {
    const folder = temporaryFolder();
    const args = ["import", someRequests(folder), "--dir", folder];
    const first = await desk(args);
    const said = await failure(args, { DESK_KEY: randomBytes(32).toString("hex") });
    expect(said).toContain(join(folder, "desk.db"));
    expect(said).toContain("DESK_KEY");
    expect(said).not.toContain("\n");
    expect(await desk(args)).toBe(first);
  });

  it("refuses a key that is none, and a store whose key is not there", async () => {
    const folder = temporaryFolder();
    const file = someRequests(folder);
    expect(await failure(["import", file, "--dir", folder], { DESK_KEY: "secret" })).toBe(
      "the setting DESK_KEY is not 64 hexadecimal digits",
    );
    await desk(["import", file, "--dir", folder]);
    const alone = temporaryFolder();
    copyFileSync(join(folder, "desk.db"), join(alone, "desk.db"));
    const said = await failure(["import", file, "--dir", alone]);
    expect(said).toContain("was sealed under a key that is not here");
    expect(said).toContain(join(alone, "desk.key"));
    expect(existsSync(join(alone, "desk.key"))).toBe(false);
  });

  it.each(["desk.db", "provider.db"])(
    "refuses a %s that belongs to another program, by name, and leaves it as it was",
    async (name) => {
      const folder = temporaryFolder();
      const file = join(folder, name);
      foreignDatabase(file);
      writeFileSync(join(folder, "desk.key"), randomBytes(32).toString("hex"));
      const before = readFileSync(file);
      const said = await failure(["import", someRequests(folder), "--dir", folder]);
      expect(said).toContain(file);
      expect(said).not.toContain("\n");
      expect(readFileSync(file)).toEqual(before);
    },
  );

  it("names a file that is not there, requests or orders", async () => {
    const folder = temporaryFolder();
    const missing = join(folder, "none.jsonl");
    for (const args of [
      ["import", missing, "--dir", folder],
      ["import", someRequests(folder), "--orders", missing, "--dir", folder],
    ]) {
      expect(await failure(args)).toContain(`the file ${missing} can't be read`);
    }
  });

  it("explains itself when it is called wrongly", async () => {
    for (const args of [[], ["import"], ["sell"], ["demo", "--fast"], ["demo", "now"]]) {
      expect(await failure(args)).toContain("usage: desk demo");
    }
    const folder = temporaryFolder();
    writeFileSync(join(folder, "mine.txt"), "mine");
    expect(await failure(["demo", "--keep", folder])).toContain("has to be new or empty");
  });

  it("ends with 1 where a request was set aside, and says why in plain words", async () => {
    const folder = temporaryFolder();
    const file = someRequests(folder);
    await desk(["import", file, "--dir", folder]);
    writeFileSync(file, readFileSync(file, "utf8").replace(/"reason":"[^"]+"/, '"reason":"new"'));
    const { code, stdout, stderr } = await runDesk(["import", file, "--dir", folder]);
    expect({ code, stderr }).toEqual({ code: 1, stderr: "1 request was set aside: see above\n" });
    expect(stdout).toMatch(/^ {2}set aside R-\d{4}: an earlier request had this id and asked for/m);
  });

  it("ends with 1 where the job could not be done, and with 2 where nobody could tell what it was", async () => {
    const folder = temporaryFolder();
    const missing = await runDesk(["import", join(folder, "none.jsonl"), "--dir", folder]);
    expect(missing).toMatchObject({ code: 1, stdout: "" });
    expect(missing.stderr.trim().split("\n")).toHaveLength(1);
    expect(await runDesk(["sell"])).toMatchObject({ code: 2, stdout: "" });
  });
});
