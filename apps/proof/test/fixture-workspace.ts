import type { Breach } from "../src/architecture/breach.ts";
import { assembleWorkspace } from "../src/architecture/workspace.ts";
import type { Workspace } from "../src/architecture/workspace.ts";

type Rule = (workspace: Workspace) => Breach[];

/** Runs a rule over a few files in memory; a folder without a manifest of its own gets a plain one. */
export function runRule(rule: Rule, files: Record<string, string | object>): string[] {
  const texts = new Map<string, string>();
  for (const [path, content] of Object.entries(files)) {
    texts.set(path, typeof content === "string" ? content : JSON.stringify(content));
    const folder = /^(packages|apps)\/([^/]+)/.exec(path);
    const manifest = `${folder?.[0]}/package.json`;
    if (folder !== null && !(manifest in files)) {
      const scope = folder[1] === "packages" ? "@holdpoint/" : "";
      texts.set(manifest, JSON.stringify({ name: `${scope}${folder[2]}`, exports: { ".": {} } }));
    }
  }
  return rule(assembleWorkspace(texts)).map(({ where, says }) => `${where} ${says}`);
}

/** Runs a rule over one file of `packages/flow/src` and tells only the lines that it names. */
export function runOnSource(rule: Rule, text: string, path = "packages/flow/src/a.ts"): string[] {
  return runRule(rule, { [path]: text });
}
