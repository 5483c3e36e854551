/** A published package as it stands in the tree. */
export interface PackageState {
  readonly name: string;
  readonly version: string;
  /** Whether the branch changed anything in its folder. */
  readonly changed: boolean;
}

const NEVER_RELEASED = "0.0.0";

/**
 * Before its first release a package has no user to tell of each change: it is enough that a pending
 * changeset names it. Returns the names of changed packages that none does.
 */
export function missingFromFirstRelease(
  packages: readonly PackageState[],
  changesets: readonly string[],
): string[] {
  return packages
    .filter(({ changed, version }) => changed && version === NEVER_RELEASED)
    .map(({ name }) => name)
    .filter((name) => !changesets.some((text) => namesPackage(text, name)));
}

/** Tells whether a released package changed, so that changesets has something to check. */
export function hasReleasedChange(packages: readonly PackageState[]): boolean {
  return packages.some(({ changed, version }) => changed && version !== NEVER_RELEASED);
}

// The front matter has one line a package: `"@holdpoint/seal": minor`.
function namesPackage(text: string, name: string): boolean {
  const [, frontMatter = ""] = text.split(/^---$/m);
  return frontMatter
    .split("\n")
    .some((line) => line.replaceAll(/["']/g, "").startsWith(`${name}:`));
}
