import { randomBytes } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
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

/** Every file of a folder, with its bytes. */
const contentOf = (folder: string): unknown =>
  readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), "hex")]);

const paymentsIn = (folder: string): unknown => {
  const bank = new DatabaseSync(join(folder, "provider.db"));
  const found = bank.prepare("select count(*) as made from payments").get();
  bank.close();
  return found?.["made"];
};

describe("desk import", () => {
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
    rmSync(join(folder, "provider.db"));
    await failure(args, { DESK_KEY: randomBytes(32).toString("hex") });
    expect(existsSync(join(folder, "provider.db"))).toBe(false);
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
      const args = ["import", someRequests(folder), "--dir", folder];
      const before = contentOf(folder);
      for (const settings of [{}, { DESK_KEY: randomBytes(32).toString("hex") }]) {
        const said = await failure(args, settings);
        expect(said).toContain(`${file} is `);
        expect(said).toMatch(/database of another program$/);
        expect(contentOf(folder)).toEqual(before);
      }
    },
  );

  it("names a file that is not there, requests or orders, and makes nothing", async () => {
    const folder = temporaryFolder();
    const dir = join(folder, "desk");
    const missing = join(folder, "none.jsonl");
    for (const args of [
      ["import", missing, "--dir", dir],
      ["import", someRequests(folder), "--orders", missing, "--dir", dir],
    ]) {
      expect(await failure(args)).toBe(`the file ${missing} can't be read: it is not there`);
    }
    expect(existsSync(dir)).toBe(false);
  });

  it("makes nothing where the setting DESK_KEY is no key", async () => {
    const folder = temporaryFolder();
    const dir = join(folder, "desk");
    await failure(["import", someRequests(folder), "--dir", dir], { DESK_KEY: "secret" });
    expect(existsSync(dir)).toBe(false);
  });

  it("begins where an empty desk.db stands, as where there is none", async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "desk.db"), "");
    const printed = await desk(["import", someRequests(folder), "--dir", folder]);
    expect(printed).toMatch(/^ {2}\d+ are done, \d+ wait for a person$/m);
  });

  it("says in words why a folder or a key file can't be used", async () => {
    const folder = temporaryFolder();
    const file = someRequests(folder);
    expect(await failure(["import", file, "--dir", file])).toBe(
      `${file} is a file, and a desk is kept in a folder: name another`,
    );
    const below = join(file, "desk");
    expect(await failure(["import", file, "--dir", below])).toBe(
      `the folder ${below} can't be used: a part of its path is a file`,
    );
    const key = join(folder, "desk.key");
    mkdirSync(key);
    expect(await failure(["import", file, "--dir", folder])).toBe(
      `the key file ${key} can't be read: it is a folder`,
    );
  });

  it("is the same for several processes that begin a desk at once: one key, one payment a request", async () => {
    const folder = temporaryFolder();
    const file = someRequests(folder);
    for (let round = 0; round < 3; round += 1) {
      const args = ["import", file, "--dir", join(folder, `desk${round}`)];
      const ended = await Promise.all([runDesk(args), runDesk(args), runDesk(args)]);
      expect(ended.map(({ code, stderr }) => ({ code, stderr }))).toEqual(
        ended.map(() => ({ code: 0, stderr: "" })),
      );
      const alone = await desk(args);
      expect(alone).not.toContain("another process");
      expect(alone).not.toContain("set aside");
      const bank = new DatabaseSync(join(args[3]!, "provider.db"));
      const paid = bank.prepare("select request from payments").all();
      bank.close();
      expect(paid.length).toBeGreaterThan(0);
      expect(new Set(paid.map((row) => row["request"])).size).toBe(paid.length);
    }
  });

  it("explains itself when it is called wrongly", async () => {
    for (const args of [[], ["import"], ["sell"], ["demo", "--fast"], ["demo", "now"]]) {
      expect(await failure(args)).toContain("usage: desk demo");
    }
    expect(await failure(["import", "some.jsonl", "--keep", "x"])).toContain(
      "--keep is no option of import",
    );
    expect(await failure(["demo", "--dir", "x"])).toContain("--dir is no option of demo");
    expect(await failure(["demo", "--orders", "x"])).toContain("--orders is no option of demo");
    expect(await failure(["import", "some.jsonl", "--dir", ""])).toContain("--dir names no folder");
    expect(await failure(["demo", "--keep", ""])).toContain("--keep names no folder");
    const folder = temporaryFolder();
    writeFileSync(join(folder, "mine.txt"), "mine");
    expect(await failure(["demo", "--keep", join(folder, "mine.txt")])).toBe(
      `the folder ${join(folder, "mine.txt")} of --keep can't be used: a file stands in its place`,
    );
    expect(await failure(["demo", "--keep", folder])).toContain("has to be new or empty");
  });

  it("prints its usage on 80 columns where it is asked for help", async () => {
    for (const args of [["--help"], ["-h"], ["import", "--help"]]) {
      const printed = await desk(args);
      expect(printed).toContain("usage: desk demo");
      expect(Math.max(...printed.split("\n").map(({ length }) => length))).toBeLessThanOrEqual(80);
    }
  });

  it("names the first bad lines of a file that is none, counts the rest, and makes nothing", async () => {
    const folder = temporaryFolder();
    const file = join(folder, "garbage.jsonl");
    writeFileSync(file, "garbage\n".repeat(1_000));
    const dir = join(folder, "desk");
    const { code, stdout, stderr } = await runDesk(["import", file, "--dir", dir]);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `no line of ${file} is a request that can be taken\n`,
    });
    expect(stdout.trimEnd().split("\n")).toHaveLength(22);
    expect(stdout).toMatch(/ {2}line 20 {3}it is not JSON\n {2}… and 980 more bad lines\n$/);
    expect(existsSync(dir)).toBe(false);
  });

  it("prints no table where nothing waits", async () => {
    const folder = temporaryFolder();
    const file = join(folder, "one.jsonl");
    const lines = readFileSync(sample.requests, "utf8").split("\n");
    writeFileSync(file, `${lines.find((line) => line.includes('"R-0002"'))}\n`);
    expect(await desk(["import", file, "--dir", folder])).toBe(
      "  1 of 1 requests\n  1 are done, 0 wait for a person\n",
    );
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
