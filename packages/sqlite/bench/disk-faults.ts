/**
 * What a trace of the system's calls shows, and what a disk does that fails at its n-th call: `node
 * --conditions=@holdpoint/source bench/disk-faults.ts`. Needs Linux and strace, so it is run by hand and its report is kept
 * in `docs/reports`.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const folder = mkdtempSync(join(tmpdir(), "holdpoint-disk-"));
const trace = join(folder, "trace");

function run(program: string, file: string, ...strace: readonly string[]): string {
  const source = ["--conditions=@holdpoint/source", join(import.meta.dirname, program)];
  const args = [...strace, process.execPath, ...source, join(folder, file)];
  const [command = "", ...rest] = args;
  const { stdout, error } = spawnSync(command, rest, { encoding: "utf8" });
  if (error !== undefined) throw error;
  return stdout.trim().split("\n").at(-1) ?? "";
}

/** Lines that a program told, and those of them that came while something was written to the log and not synced. */
function toldBy(program: string): { readonly all: number; readonly early: number } {
  run(program, `${program}.db`, "strace", "-f", "-y", "-o", trace, "-e", calls);
  let isSynced = false;
  const told = { all: 0, early: 0 };
  const syncing = new Set<string>(); // threads whose call was written down in two lines
  for (const line of readFileSync(trace, "utf8").split("\n")) {
    const [thread = ""] = line.split(" ", 1);
    if (/f(data)?sync\(\d+<[^>]*-wal> <unfinished/.test(line)) syncing.add(thread);
    if (/f(data)?sync\(\d+<[^>]*-wal>\) += 0/.test(line)) isSynced = true;
    else if (/sync resumed>\) += 0/.test(line) && syncing.delete(thread)) isSynced = true;
    else if (/pwrite64\(\d+<[^>]*-wal>/.test(line)) isSynced = false;
    else if (/ write\(1<[^>]*>, "\d+\\n"/.test(line)) {
      told.all += 1;
      if (!isSynced) told.early += 1;
    }
  }
  return told;
}

const calls = "trace=fsync,fdatasync,write,pwrite64";
const commits = toldBy("disk-writer.ts");
console.log(`commits told: ${commits.all}, before their fsync: ${commits.early}`);
const moves = toldBy("disk-desk.ts");
console.log(`starts, events and answers told: ${moves.all}, before their fsync: ${moves.early}`);

let wrong = commits.all === 30 && moves.all > 30 && commits.early + moves.early === 0 ? 0 : 1;
const seen = new Map<string, number>();
for (const call of ["fsync", "pwrite64"]) {
  const last = call === "fsync" ? 45 : 700;
  const step = call === "fsync" ? 1 : 23;
  for (let when = 1; when <= last; when += step) {
    const file = `${call}-${when}.db`;
    const fault = `inject=${call}:error=EIO:when=${when}`;
    const first = run(
      "disk-writer.ts",
      file,
      "strace",
      "-f",
      "-o",
      "/dev/null",
      "-e",
      `trace=${call}`,
      "-e",
      fault,
    );
    const then = run("disk-writer.ts", file, "env");
    const isOpened = !first.includes("opening");
    if (isOpened && !first.includes('"whole":1')) wrong += 1;
    if (!then.includes('"whole":1') || !then.includes('"done":30')) wrong += 1;
    const what = `${call} | ${first}`;
    seen.set(what, (seen.get(what) ?? 0) + 1);
  }
}
for (const [what, times] of seen) console.log(`${String(times).padStart(3)} × ${what}`);
console.log(`wrong: ${wrong}`);
rmSync(folder, { recursive: true, force: true });
process.exitCode = wrong === 0 ? 0 : 1;
