// Ten runs that wait, are decided on over HTTP and end: a line for each event, each start, each answer, when it is told.
import { writeSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { once } from "node:events";

import { approve, unverified } from "@holdpoint/approvals";
import { flow } from "@holdpoint/flow";
import { createKeyring } from "@holdpoint/seal";
import { defineWorkflow, Workflows } from "@holdpoint/workflows";
import { z } from "zod";

import { openSqlite } from "../src/index.ts";

const [path = ""] = process.argv.slice(2);
const order = defineWorkflow({
  name: "order",
  version: "1",
  input: z.object({ id: z.string() }),
  flow: flow("order", z.object({ id: z.string(), sent: z.boolean().optional() }))
    .gate("review", { payload: ({ id }) => ({ id }) })
    .node("send", () => ({ sent: true }))
    .path("review", "send")
    .build(),
});

let lines = 0;
const tell = (): void => void writeSync(1, `${(lines += 1)}\n`);
const store = openSqlite(path);
const desk = new Workflows({
  store,
  definitions: [order],
  keyring: createKeyring({ current: { id: "k1", key: new Uint8Array(32).fill(7) } }),
  onEvent: tell,
});
const server = createServer((request, response) => {
  void desk
    .decide(String(request.url).slice(1), approve({ by: unverified("dana") }))
    .then(({ status }) => {
      tell();
      response.end(status);
    });
}).listen(0, "127.0.0.1");
await once(server, "listening");
const { port } = server.address() as AddressInfo;
for (let number = 1; number <= 10; number += 1) {
  const { runId } = await desk.start("order", { id: `order-${number}` });
  tell();
  const [wait] = (await desk.settled(runId)).waitsFor;
  await (await fetch(`http://127.0.0.1:${port}/${wait!.id}`, { method: "POST" })).text();
  if ((await desk.settled(runId)).status !== "completed") throw new Error(runId);
}
server.close();
store.close();
