import { readFile, writeFile } from "node:fs/promises";
import { resolve } from "node:path";

import { verifyExport } from "@holdpoint/workflows";

import type { Command } from "../command.ts";
import { CliError } from "../errors.ts";

export const runsExport: Command = {
  path: "runs export",
  summary: "everything that is kept of a run as one sealed text, data in the clear",
  operands: ["ID"],
  options: { out: { value: "FILE", summary: "a new file; default: standard output" } },
  async run(desk, given, output) {
    const runId = given.operand(0);
    const text = await (await desk.retention()).export(runId);
    const file = given.text("out");
    if (file === undefined) {
      if (output.json) output.say({ runId, text }, () => []);
      else output.raw(text);
      return 0;
    }
    try {
      await writeFile(resolve(desk.folder, file), text, { flag: "wx", mode: 0o600 });
    } catch (cause) {
      const said = cause instanceof Error ? cause.message : "";
      throw new CliError("file-unusable", `${file} can't be written: ${said}`, { file }, cause);
    }
    output.say({ runId, file, characters: text.length }, () => [`run ${runId} is in ${file}`]);
    return 0;
  },
};

export const runsVerify: Command = {
  path: "runs verify",
  summary: "check an exported run by its seals; needs no store",
  operands: ["FILE"],
  options: {},
  async run(desk, given, output) {
    const file = given.operand(0);
    const report = await verifyExport(await textOf(desk.folder, file), { keyring: desk.keyring });
    output.say(report, () =>
      report.status === "whole"
        ? [
            `whole: run ${report.run.runId}, ${report.run.status}, ${report.events} entries, ${report.approvals.length} approvals`,
          ]
        : [`broken: ${report.what}: ${report.why}`],
    );
    return report.status === "whole" ? 0 : 3;
  },
};

/** @throws CliError `file-unusable` */
export async function textOf(folder: string, file: string): Promise<string> {
  try {
    return await readFile(resolve(folder, file), "utf8");
  } catch (cause) {
    const said = cause instanceof Error ? cause.message : "";
    throw new CliError("file-unusable", `${file} can't be read: ${said}`, { file }, cause);
  }
}
