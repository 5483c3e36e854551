/**
 * `pnpm coverage`: runs the tests of the seal, approvals, flow and both stores over the files of `vitest.coverage.config.ts`, writes
 * `docs/reports/coverage.md`, and fails where one of them has a branch that no test takes (P15). `pnpm coverage seal` looks at that
 * project alone, and leaves the report as it is.
 */
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";

interface Figure {
  readonly total: number;
  readonly covered: number;
}
type Figures = Readonly<Record<"branches" | "functions" | "statements", Figure>>;

const workspace = fileURLToPath(new URL("..", import.meta.url));
const everything = ["seal", "approvals", "flow", "sqlite", "postgres"];
const given = process.argv.slice(2);
const projects = given.length > 0 ? given : everything;
const vitest = ["node_modules/vitest/vitest.mjs", "run", "--config", "vitest.coverage.config.ts"];
const args = [...vitest, ...projects.flatMap((project) => ["--project", project])];
const { status } = spawnSync(process.execPath, args, { cwd: workspace, stdio: "inherit" });

process.exitCode = status ?? 1;
if (given.length > 0) process.exit();

const summary = JSON.parse(
  readFileSync(`${workspace}/coverage/coverage-summary.json`, "utf8"),
) as Readonly<Record<string, Figures>>;
const files = Object.entries(summary)
  .map(([path, figures]) => [path === "total" ? path : relative(workspace, path), figures] as const)
  .toSorted(([a], [b]) => (a < b ? -1 : 1));

const cell = ({ covered, total }: Figure): string =>
  covered === total ? `${total}` : `**${covered} of ${total}**`;
const row = (name: string, { branches, functions, statements }: Figures): string =>
  `| ${name} | ${cell(branches)} | ${cell(functions)} | ${cell(statements)} |`;

writeFileSync(
  `${workspace}/docs/reports/coverage.md`,
  [
    "# Branches of the seal, approvals, the resume path and the stores",
    "",
    `\`pnpm coverage\` on Node ${process.versions.node}: what the tests of ${projects.join(", ")} take, by V8 itself, in the files that`,
    "`vitest.coverage.config.ts` names. No part of them is left out by a comment. A number alone says that all were taken; what",
    "tests in processes of their own take (killed, racing, resumed) is not counted.",
    "",
    "| file | branches | functions | statements |",
    "| --- | --- | --- | --- |",
    ...files.filter(([name]) => name !== "total").map(([name, figures]) => row(name, figures)),
    row("all", summary["total"]!),
    "",
  ].join("\n"),
);
