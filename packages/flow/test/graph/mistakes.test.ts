import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

import { describe, expect, it, onTestFinished } from "vitest";

const flow = resolve(import.meta.dirname, "../..");
const repository = resolve(flow, "../..");

/** What every mistake of `mistakes.test-d.ts` is said to be, by the line of the comment that says so. */
function planned(text: string): Map<number, string> {
  const lines = text.split("\n").entries();
  return new Map(
    [...lines].flatMap(([at, line]): [number, string][] => {
      const [, said] = /@ts-expect-error (.*)$/.exec(line) ?? [];
      return said === undefined ? [] : [[at + 1, said]];
    }),
  );
}

/** What the compiler says of a text, by the line. */
async function compiled(text: string): Promise<Map<number, string>> {
  const folder = await mkdtemp(join(tmpdir(), "holdpoint-mistakes-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const linked = join(folder, "node_modules");
  await mkdir(join(linked, "@holdpoint"), { recursive: true });
  await symlink(join(flow, "node_modules/zod"), join(linked, "zod"));
  await symlink(join(repository, "node_modules/@types"), join(linked, "@types"));
  for (const name of ["approvals", "flow", "tools"])
    await symlink(join(repository, "packages", name), join(linked, "@holdpoint", name));
  await writeFile(join(folder, "package.json"), '{ "type": "module" }');
  await writeFile(
    join(folder, "tsconfig.json"),
    JSON.stringify({ extends: join(repository, "tsconfig.base.json"), files: ["said.ts"] }),
  );
  await writeFile(join(folder, "said.ts"), text);
  const tsc = join(repository, "node_modules/typescript/bin/tsc");
  const told = await new Promise<string>((done) => {
    const args = [tsc, "-p", ".", "--pretty", "false"];
    execFile(process.execPath, args, { cwd: folder }, (_, out) => done(out));
  });
  const errors = told.split(/\n(?! )/u).flatMap((error): [number, string][] => {
    const [, line, message] = /^said\.ts\((\d+),\d+\): error (.*)$/su.exec(error) ?? [];
    return line === undefined ? [] : [[Number(line), message!]];
  });
  return new Map(errors);
}

describe("what does not compile", () => {
  it("FLOW-02 says in a sentence which field the state lacks and which name is taken, wherever it is said", async () => {
    const text = (await readFile(join(flow, "test/mistakes.test-d.ts"), "utf8")).replace(
      '"../src/index.ts"',
      '"@holdpoint/flow"',
    );
    const mistakes = planned(text);
    const told = await compiled(text.replaceAll("@ts-expect-error", "A mistake:"));
    expect(told.size).toBe(mistakes.size);
    const sentences = [...mistakes].flatMap(([line, said]) => {
      const [sentence] =
        /^(?:the state has no field|there is already a node) '\w+'/.exec(said) ?? [];
      return sentence === undefined ? [] : [{ line, sentence }];
    });
    const next = (line: number) => [...told].find(([at]) => at > line)?.[1];
    for (const { line, sentence } of sentences)
      expect(next(line), `line ${line}`).toContain(`"${sentence}"`);
    // In updates of each kind of node, beside right ones, from async code and in one branch; names of each kind and of parts.
    expect(sentences.filter(({ sentence }) => sentence.includes("field"))).toHaveLength(8);
    expect(sentences.filter(({ sentence }) => sentence.includes("node"))).toHaveLength(6);
  });
});
