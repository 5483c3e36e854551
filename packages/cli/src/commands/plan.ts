import { isFlowError, type NodePlan } from "@holdpoint/flow";

import type { Command } from "../command.ts";
import { tableLines } from "../table.ts";

export const plan: Command = {
  path: "plan",
  summary: "could this run go on with these definitions, and what would each node do",
  operands: ["RUN"],
  options: {},
  async run(desk, given, output) {
    const runId = given.operand(0);
    const workflows = await desk.runs(desk.definitions);
    try {
      const found = await workflows.plan(runId);
      output.say({ could: true, ...found }, () => linesOf(found.nodes));
      return found.nodes.some(({ will }) => will === "re-run") ? 0 : 3;
    } catch (error) {
      if (!isFlowError(error, "graph-version-mismatch")) throw error;
      const { code, message, data } = error;
      const differs = Array.isArray(data["differs"]) ? data["differs"].map(String) : [];
      output.say({ could: false, runId, code, message, differs }, () => [
        `it could not: ${message}`,
        ...differs.map((part) => `differs: ${part}`),
      ]);
      return 3;
    }
  },
};

function linesOf(nodes: readonly NodePlan[]): readonly string[] {
  return tableLines(
    ["node", "will", "why", "waits for", "replays"],
    nodes.map(({ node, will, why, waitsFor, replays }) => [
      node,
      will,
      why,
      waitsFor.join(" "),
      replays === 0 ? "" : String(replays),
    ]),
  );
}
