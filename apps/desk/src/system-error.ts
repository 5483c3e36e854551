const words: Readonly<Record<string, string>> = {
  EACCES: "this user has no right to it",
  EEXIST: "a file stands in its place",
  EISDIR: "it is a folder",
  ENOENT: "it is not there",
  ENOSPC: "the disk is full",
  ENOTDIR: "a part of its path is a file",
  EPERM: "this user has no right to it",
  EROFS: "it can only be read here",
};

/** What the system said, in words for a person where it is one of the usual things. */
export function reasonOf(error: Error): string {
  const code = codeOf(error);
  return (code === undefined ? undefined : words[code]) ?? error.message;
}

/** The system's code of an error, such as `ENOENT`. */
export function codeOf(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}
