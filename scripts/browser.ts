import { execFileSync } from "node:child_process";

import chromium from "@sparticuz/chromium";
import { chromium as playwright, type Browser } from "playwright-core";

/**
 * A real Chromium: the one that `CHROMIUM` names, else one on the path, else the npm package's own,
 * which is unpacked on first use (Linux x64).
 */
export async function launchBrowser(): Promise<Browser> {
  const installed = process.env["CHROMIUM"] ?? onPath("chromium") ?? onPath("google-chrome");
  const executablePath = installed ?? (await chromium.executablePath());
  const args = installed === undefined ? chromium.args : ["--no-sandbox"];
  return playwright.launch({ executablePath, args, headless: true });
}

function onPath(name: string): string | undefined {
  try {
    return execFileSync("which", [name], { encoding: "utf8" }).trim();
  } catch {
    return undefined;
  }
}
