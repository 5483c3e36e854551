import type { Breach } from "./breach.ts";
import { packageOf } from "./imports.ts";
import { isStore } from "./layers.ts";
import type { SourceFile } from "./source-file.ts";
import type { Member, Workspace } from "./workspace.ts";

/**
 * ARCH-04: dependencies and peers are exactly what the source imports; peers, also what its dependencies have as theirs, since
 * nobody else would tell a user of them. What a store knows by type
 * alone is a peer, so that a patch of a layer never forces a release of the store.
 */
export function findDependencyBreaches(workspace: Workspace): Breach[] {
  return workspace.members.flatMap((member) => {
    const { dependencies = {}, peerDependencies = {} } = member.manifest;
    const used = usesOf(member.source, member.manifest.name);
    const declared = new Set([...Object.keys(dependencies), ...Object.keys(peerDependencies)]);
    const ours = new Set(workspace.members.map(({ manifest }) => manifest.name));
    const hard = isStore(member) ? Object.keys(dependencies).filter((name) => ours.has(name)) : [];
    return [
      ...missing(member, used, declared, "source imports $, which is no dependency and no peer"),
      ...(isLaidOut(member)
        ? missing(
            member,
            declared,
            new Set([...used, ...passedOn(workspace, member)]),
            "$ is declared and no source imports it",
          )
        : []),
      ...hard.map((name) => at(member, `a store's layer is a peer: ${name}`)),
    ];
  });
}

/** Peers of those packages of ours that a member depends on. */
function passedOn({ members }: Workspace, { manifest }: Member): readonly string[] {
  const { dependencies = {}, peerDependencies = {} } = manifest;
  return members
    .filter((other) => other.manifest.name in dependencies)
    .flatMap((other) => Object.keys(other.manifest.peerDependencies ?? {}))
    .filter((name) => name in peerDependencies);
}

/**
 * ARCH-05: development dependencies are exactly what tests, benches and settings import, with the
 * version of each peer to develop against, and the types of what is imported and brings none. The
 * tools of the repository's root serve every member.
 */
export function findDevDependencyBreaches(workspace: Workspace): Breach[] {
  const tools = Object.keys(workspace.root.devDependencies ?? {});
  return workspace.members.flatMap((member) => {
    const { dependencies = {}, peerDependencies = {}, devDependencies = {} } = member.manifest;
    const used = usesOf(member.tests, member.manifest.name);
    const peers = Object.keys(peerDependencies);
    const dev = Object.keys(devDependencies);
    const known = new Set([...Object.keys(dependencies), ...peers, ...dev, ...tools]);
    return [
      ...missing(member, used, known, "tests import $, which is not declared"),
      ...(isLaidOut(member)
        ? missing(member, new Set(dev), withTypes([...used, ...peers]), "no test imports $")
        : []),
    ];
  });
}

/**
 * A member without a test is still being laid out: it declares what it is going to stand on before
 * it does. What it imports must be declared all the same.
 */
function isLaidOut(member: Member): boolean {
  return member.tests.some(({ path }) => path.endsWith(".test.ts"));
}

function usesOf(files: readonly SourceFile[], self: string): Set<string> {
  const names = files.flatMap((file) => file.imports.map((each) => packageOf(each.specifier)));
  return new Set(names.filter((name) => name !== undefined && name !== self) as string[]);
}

/** The names, each with the package that carries its types: `@types/a`, and `@types/a__b` of `@a/b`. */
function withTypes(names: readonly string[]): Set<string> {
  const types = names.map((name) => `@types/${name.replace(/^@([^/]+)\//, "$1__")}`);
  return new Set([...names, ...types]);
}

function missing(
  member: Member,
  wanted: ReadonlySet<string>,
  present: ReadonlySet<string>,
  says: string,
): Breach[] {
  return [...wanted]
    .filter((name) => !present.has(name))
    .map((name) => at(member, says.replace("$", name)));
}

function at(member: Member, says: string): Breach {
  return { where: `${member.folder}/package.json`, says };
}
