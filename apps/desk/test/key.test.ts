import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";

import { describe, expect, it } from "vitest";

import { folderAt, type Folder } from "../src/folder.ts";
import { keyIfAny, keyOf, makeKey } from "../src/key.ts";
import { temporaryFolder } from "./folder.ts";

const maker = `
  const { parentPort, workerData } = require("node:worker_threads");
  const { module, gates, folders, many } = workerData;
  const arrived = new Int32Array(gates);
  import(module).then(({ makeKey }) => {
    const keys = folders.map((folder, round) => {
      Atomics.add(arrived, round, 1);
      while (Atomics.load(arrived, round) < many);
      return Buffer.from(makeKey(folder)).toString("hex");
    });
    parentPort.postMessage(keys);
  });
`;

/** Makes each folder's key in several threads at the same moment; answers what each thread was given. */
function racing(folders: readonly Folder[], many: number): Promise<string[][]> {
  const gates = new SharedArrayBuffer(4 * folders.length);
  const module = new URL("../src/key.ts", import.meta.url).href;
  const workerData = { module, gates, folders, many };
  const threads = Array.from({ length: many }, () => new Worker(maker, { eval: true, workerData }));
  const said = (thread: Worker): Promise<string[]> =>
    new Promise((resolve, reject) => {
      thread.once("message", resolve).once("error", reject);
    });
  return Promise.all(threads.map(said));
}

describe("the key file", () => {
  it("is made once, for its owner alone, and nothing else is left beside it", () => {
    const folder = folderAt(temporaryFolder());
    expect(keyIfAny(folder, undefined)).toBeUndefined();
    const key = makeKey(folder);
    expect(keyOf(folder, undefined)).toEqual(key);
    expect(readdirSync(folder.path)).toEqual(["desk.key"]);
    expect(statSync(folder.keyFile).mode & 0o777).toBe(0o600);
  });

  it("stays as it is where one is made again, and the one that stands is answered", () => {
    const folder = folderAt(temporaryFolder());
    const first = makeKey(folder);
    const file = readFileSync(folder.keyFile);
    expect(makeKey(folder)).toEqual(first);
    expect(readFileSync(folder.keyFile)).toEqual(file);
  });

  it("is one, whoever makes it at the same moment, and never seen in part", async () => {
    const path = temporaryFolder();
    const folders = Array.from({ length: 100 }, (_, round) => folderAt(join(path, `${round}`)));
    for (const folder of folders) mkdirSync(folder.path);
    const standing = (): string[] =>
      folders.map(({ keyFile }) => readFileSync(keyFile, "utf8").trim());
    for (const keys of await racing(folders, 2)) expect(keys).toEqual(standing());
  });

  it("says what to do about one that holds no key", () => {
    const folder = folderAt(temporaryFolder());
    writeFileSync(folder.keyFile, "");
    const wrong = `the key file ${folder.keyFile} is not 64 hexadecimal digits`;
    expect(() => keyIfAny(folder, undefined)).toThrow(
      `${wrong}: nothing is sealed under it yet, so remove it, and another is made`,
    );
    writeFileSync(folder.store, "sealed");
    expect(() => keyIfAny(folder, undefined)).toThrow(
      `${wrong}: put the key back that sealed ${folder.store}`,
    );
  });
});
