// xstate keeps nothing by itself: after each transition its snapshot is written by hand, as its documentation has it, in one commit.
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import pg from "pg";
import { assign, createActor, fromPromise, setup, waitFor } from "xstate";

import { approvalMachine, linearMachine } from "../xstate.mjs";

export const name = "xstate";

export async function on({ sqlite, postgres }) {
  const store = sqlite ? onFile(sqlite) : await onServer(postgres);
  return {
    linear: (nodes) => linear(nodes, store),
    approval: (work) => approval(work, store),
    // On a server its whole state after each of 200 results takes minutes.
    ...(sqlite && { results: (work) => results(work, store) }),
  };
}

function onFile(folder) {
  const file = new DatabaseSync(join(folder, "xstate.db"));
  file.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
  file.exec("CREATE TABLE snapshots (id TEXT PRIMARY KEY, text TEXT)");
  const put = file.prepare("INSERT OR REPLACE INTO snapshots VALUES (?, ?)");
  const get = file.prepare("SELECT text FROM snapshots WHERE id = ?");
  return { put: async (id, text) => put.run(id, text), get: async (id) => get.get(id).text };
}

async function onServer(url) {
  const pool = new pg.Pool({ connectionString: url });
  await pool.query("CREATE TABLE xstate_snapshots (id text PRIMARY KEY, text text)");
  const put =
    "INSERT INTO xstate_snapshots VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET text = $2";
  const get = "SELECT text FROM xstate_snapshots WHERE id = $1";
  return {
    put: (id, text) => pool.query({ name: "put", text: put, values: [id, text] }),
    get: async (id) => (await pool.query({ name: "get", text: get, values: [id] })).rows[0].text,
  };
}

let runs = 0;

/** Writes each snapshot; whoever goes on waits for `written`. */
function kept(store) {
  const id = `run-${runs++}`;
  const kept = { id, written: Promise.resolve() };
  kept.follow = (actor) => {
    actor.subscribe(() => {
      const text = JSON.stringify(actor.getPersistedSnapshot());
      kept.written = kept.written.then(() => store.put(id, text));
    });
    actor.start();
  };
  return kept;
}

function linear(nodes, store) {
  const machine = linearMachine(nodes);
  return async () => {
    const run = kept(store);
    const step = fromPromise(async ({ input }) => {
      await run.written;
      return { n: input.n + 1 };
    });
    const actor = createActor(machine.provide({ actors: { step } }), { input: { n: 0 } });
    run.follow(actor);
    const end = await waitFor(actor, (snapshot) => snapshot.status === "done");
    await run.written;
    return end.context.n;
  };
}

function approval({ state, execute, decided }, store) {
  const machine = approvalMachine();
  return async () => {
    const run = kept(store);
    const built = machine.provide({
      actors: {
        prepare: fromPromise(async ({ input }) => {
          await run.written;
          return { amount: input.amount + 1 };
        }),
        act: fromPromise(async ({ input }) => {
          await run.written;
          return execute(input);
        }),
      },
    });
    const first = createActor(built, { input: state });
    run.follow(first);
    await waitFor(first, (snapshot) => snapshot.matches("waiting"));
    await run.written;
    first.stop();
    decided();
    const snapshot = JSON.parse(await store.get(run.id));
    const second = createActor(built, { snapshot, input: state });
    run.follow(second);
    second.send({ type: "approve" });
    const end = await waitFor(second, ({ status }) => status === "done");
    await run.written;
    return end.context.ok;
  };
}

function results({ results: count, fetch }, store) {
  const actions = assign({ all: ({ context, event }) => [...context.all, event.output] });
  const machine = setup({}).createMachine({
    id: "results",
    initial: "collect",
    context: { all: [] },
    states: {
      collect: {
        invoke: {
          src: "fetch",
          input: ({ context }) => context.all.length,
          onDone: [
            {
              guard: ({ context }) => context.all.length + 1 === count,
              target: "waiting",
              actions,
            },
            {
              target: "collect",
              reenter: true,
              actions,
            },
          ],
        },
      },
      waiting: { on: { approve: "done" } },
      done: { type: "final" },
    },
  });
  return async () => {
    const run = kept(store);
    const one = fromPromise(async ({ input }) => {
      await run.written;
      return fetch(input);
    });
    const built = machine.provide({ actors: { fetch: one } });
    const first = createActor(built);
    run.follow(first);
    await waitFor(first, (snapshot) => snapshot.matches("waiting"), { timeout: Infinity });
    await run.written;
    const snapshot = JSON.parse(await store.get(run.id));
    first.stop();
    const second = createActor(built, { snapshot });
    run.follow(second);
    second.send({ type: "approve" });
    const end = await waitFor(second, ({ status }) => status === "done");
    await run.written;
    if (end.context.all.length !== count) throw new Error("a result is lost");
    return count;
  };
}
