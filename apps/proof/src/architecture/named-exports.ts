import type { Breach } from "./breach.ts";
import { isExportAll } from "./imports.ts";
import { placeOf } from "./source-file.ts";
import { nodesIn } from "./syntax-tree.ts";
import { packagesOf } from "./workspace.ts";
import type { Member, Workspace } from "./workspace.ts";

/**
 * ARCH-12: what is reachable is promised, so each export is named where it leaves a package, and
 * each entry stands in the manifest: to develop against (its source) and, the same ones, to ship.
 */
export function findUnnamedExports(workspace: Workspace): Breach[] {
  return packagesOf(workspace).flatMap((member) => [
    ...findExportAll(member),
    ...findEntryFaults(member),
  ]);
}

function findExportAll(member: Member): Breach[] {
  return member.source.flatMap((file) =>
    nodesIn(file.tree.body)
      .filter((node) => isExportAll(node))
      .map((node) => ({ where: placeOf(file, node.start), says: "exports without a name" })),
  );
}

function findEntryFaults(member: Member): Breach[] {
  const { exports = {}, publishConfig = {} } = member.manifest;
  const entries = Object.keys(exports);
  const shipped = Object.keys(publishConfig.exports ?? {});
  const faults = [
    ...["./package.json", "."].filter((entry) => !entries.includes(entry)).map((e) => `lacks ${e}`),
    ...entries.filter((entry) => /\*|internal/.test(entry)).map((e) => `${e} is not one entry`),
    ...entries.filter((entry) => !shipped.includes(entry)).map((e) => `does not ship ${e}`),
    ...shipped.filter((entry) => !entries.includes(entry)).map((e) => `ships ${e} alone`),
    ...entries
      .filter((entry) => !hasSource(member, exports[entry]))
      .map((e) => `${e} has no source`),
  ];
  const where = `${member.folder}/package.json`;
  return faults.map((fault) => ({ where, says: `exports: ${fault}` }));
}

function hasSource(member: Member, entry: unknown): boolean {
  if (typeof entry === "string") return entry === "./package.json";
  if (typeof entry !== "object" || entry === null) return false;
  const source: unknown = Reflect.get(entry, "@holdpoint/source");
  return member.source.some((file) => `./${file.path.slice(member.folder.length + 1)}` === source);
}
