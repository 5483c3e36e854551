/**
 * The samples of the README: each fenced block below `<!-- FILE -->` is that file, each below `<!-- output of FILE -->` is
 * what the file prints. `node apps/examples/src/sync-readme.ts` writes them; a test compares them.
 */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = new URL("../../../", import.meta.url);
const block = /<!-- (output of )?(apps\/examples\/src\/\S+) -->\n\n```(\w+)\n[\s\S]*?```/g;

/** What a program prints, run as a user would. */
export function outputOf(file: string): string {
  const path = fileURLToPath(new URL(file, root));
  const args = ["--conditions=@holdpoint/source", path];
  return execFileSync(process.execPath, args, { encoding: "utf8" });
}

/** A document with its samples as they are. */
export function synced(document: string): string {
  return document.replaceAll(
    block,
    (_, output: string | undefined, file: string, language: string) => {
      const text =
        output === undefined ? readFileSync(new URL(file, root), "utf8") : outputOf(file);
      return `<!-- ${output ?? ""}${file} -->\n\n\`\`\`${language}\n${text}\`\`\``;
    },
  );
}

export const readme = new URL("README.md", root);

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  writeFileSync(readme, synced(readFileSync(readme, "utf8")));
}
