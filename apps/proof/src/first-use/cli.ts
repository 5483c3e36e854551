// What a command line answers where there is nothing yet, and that it makes nothing.
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { defineConfig, runCli } from "@holdpoint/cli";

const folder = mkdtempSync(join(tmpdir(), "holdpoint-first-use-"));
let out = "";
const to = { folder, out: (text: string) => void (out += text), err: () => undefined };
if ((await runCli([], to)) !== 0 || !out.includes("approvals list")) throw new Error("no help");
if ((await runCli(["runs", "list", "--store", "desk.db"], to)) !== 1) throw new Error("no store, and no refusal"); // prettier-ignore
if (existsSync(join(folder, "desk.db"))) throw new Error("a store was made");
if ((await runCli(["runs", "stop"], to)) !== 2) throw new Error("an unknown command is known");
if (defineConfig({ scope: "acme" }).scope !== "acme") throw new Error("a config is changed");
rmSync(folder, { recursive: true });
