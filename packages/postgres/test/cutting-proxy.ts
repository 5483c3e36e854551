import { once } from "node:events";
import { connect, createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";

/** Where a connection is cut: at a message that commits, before the server gets it or after the server has answered it. */
export type Cut = "before" | "after";

export interface CuttingProxy {
  readonly url: string;
  /** Cuts at the n-th message that commits from now on, counted over all connections. */
  cut(when: Cut, number?: number): void;
  /** How many connections were cut. */
  readonly cuts: number;
  close(): Promise<void>;
}

/**
 * A way to a Postgres on which connections break. It reads messages of the client: `Q` is a statement alone; `S` ends one with
 * binds, whose text came in the `P` before it.
 */
export async function cuttingProxy(url: string, commits: RegExp): Promise<CuttingProxy> {
  const to = new URL(url);
  let pending: { when: Cut; number: number } | undefined;
  let cuts = 0;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const database = connect(Number(to.port), to.hostname);
    const end = (): void => {
      client.destroy();
      database.destroy();
    };
    for (const socket of [client, database]) {
      sockets.add(socket);
      socket.on("error", end).on("close", end);
    }
    let isMute = false;
    database.on("data", (chunk: Buffer) => {
      if (!isMute) return void client.write(chunk);
      cuts += 1;
      end();
    });
    const endsCommit = messageReader(commits);
    client.on("data", (chunk: Buffer) => {
      if (endsCommit(chunk) && pending !== undefined) {
        pending.number -= 1;
        if (pending.number === 0) {
          const { when } = pending;
          pending = undefined;
          if (when === "before") {
            cuts += 1;
            return end();
          }
          isMute = true; // what the server answers is the last that anybody hears of it
        }
      }
      database.write(chunk);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const own = new URL(url);
  own.port = String((server.address() as AddressInfo).port);
  return {
    url: own.href,
    cut: (when, number = 1) => void (pending = { when, number }),
    get cuts() {
      return cuts;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

/** Reads what a client sends, chunk by chunk: whether a statement that commits ends in this one. */
function messageReader(commits: RegExp): (chunk: Buffer) => boolean {
  let rest = Buffer.alloc(0);
  let isStarted = false;
  let isBound = false;
  const prepared = new Map<string, boolean>();
  const read = (type: string, body: Buffer): boolean => {
    const [first = "", second = ""] = body.toString("utf8").split("\0", 2);
    if (type === "P") prepared.set(first, commits.test(second));
    if (type === "B") isBound = prepared.get(second) === true;
    if (type === "Q") return commits.test(first);
    if (type !== "S" || !isBound) return false;
    isBound = false;
    return true;
  };
  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    let isCommit = false;
    for (;;) {
      const head = isStarted ? 1 : 0; // the first message of all has no type
      if (rest.length < head + 4) return isCommit;
      const end = head + rest.readUInt32BE(head);
      if (rest.length < end) return isCommit;
      const type = isStarted ? rest.toString("latin1", 0, 1) : "";
      if (read(type, rest.subarray(head + 4, end))) isCommit = true;
      isStarted = true;
      rest = rest.subarray(end);
    }
  };
}
