import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";

const main = fileURLToPath(new URL("../src/main.ts", import.meta.url));
const root = fileURLToPath(new URL("../../..", import.meta.url));

/** What a process of the desk needs so that it runs on the packages' source, without reading all of it anew each time. */
export const sourceSettings = {
  NODE_OPTIONS: "--conditions=@holdpoint/source",
  NODE_COMPILE_CACHE: fileURLToPath(new URL("../node_modules/.cache/compile", import.meta.url)),
};

/** How the desk's command ended. */
export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** What starts the desk as a process of its own, from the root of the repository. */
export function deskArguments(
  args: readonly string[],
  settings: Readonly<Record<string, string>> = {},
) {
  const { DESK_KEY: _, ...inherited } = process.env;
  const env = { ...inherited, ...sourceSettings, ...settings };
  return { file: process.execPath, args: [main, ...args], options: { env, cwd: root } };
}

/** Runs the desk to its end. */
export function runDesk(
  args: readonly string[],
  settings?: Readonly<Record<string, string>>,
): Promise<Ended> {
  const { file, args: all, options } = deskArguments(args, settings);
  return new Promise((resolve) => {
    execFile(file, all, options, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === "number" ? error.code : 0, stdout, stderr });
    });
  });
}
