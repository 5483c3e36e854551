import type { Command } from "../command.ts";
import { tableLines } from "../table.ts";
import { shownTime } from "../times.ts";

const pageMax = 500;

export const runsHistory: Command = {
  path: "runs history",
  summary: "what happened to a run, in order, verified",
  operands: ["ID"],
  options: {
    after: { value: "REVISION", summary: "past this one; default: from the first" },
    limit: { value: "N", summary: `1 to ${pageMax}; default: 50` },
  },
  async run(desk, given, output) {
    const runId = given.operand(0);
    const limit = given.count("limit", pageMax) ?? 50;
    const after = given.count("after", 999_999_999) ?? 0;
    const items = await (await desk.runs(desk.definitions)).history(runId, { after, limit });
    output.say({ runId, items }, () => {
      if (items.length === 0)
        return [after === 0 ? "nothing has happened to it yet" : "nothing more"];
      const rows = items.map(({ revision, at, text }) => [String(revision), shownTime(at), text]);
      const last = items.at(-1)!.revision;
      const more = items.length === limit ? [`there may be more: --after ${last}`] : [];
      return [...tableLines(["", "at", "what happened"], rows), ...more];
    });
    return 0;
  },
};
