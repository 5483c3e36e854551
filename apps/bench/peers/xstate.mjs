// B1, B2 and B5 on xstate: a machine of promise actors; its persisted snapshot is the state that travels. It has no map.
import { assign, createActor, fromPromise, setup, waitFor } from "xstate";

export const name = "xstate";

/** Its actor `step` is to be provided. */
export function linearMachine(nodes) {
  const states = { done: { type: "final" } };
  for (let index = 0; index < nodes; index++) {
    states[`n${index}`] = {
      invoke: {
        src: "step",
        input: ({ context }) => ({ n: context.n }),
        onDone: {
          target: index + 1 === nodes ? "done" : `n${index + 1}`,
          actions: assign({ n: ({ event }) => event.output.n }),
        },
      },
    };
  }
  return setup({}).createMachine({
    id: "linear",
    initial: "n0",
    context: ({ input }) => input,
    states,
  });
}

export function linear(nodes) {
  const step = fromPromise(async ({ input }) => ({ n: input.n + 1 }));
  const machine = linearMachine(nodes).provide({ actors: { step } });
  return async () => {
    const actor = createActor(machine, { input: { n: 0 } });
    actor.start();
    const end = await waitFor(actor, (snapshot) => snapshot.status === "done");
    return end.context.n;
  };
}

/** Its actors `prepare` and `act` are to be provided. */
export function approvalMachine() {
  return setup({}).createMachine({
    id: "approval",
    initial: "prepare",
    context: ({ input }) => ({ ...input }),
    states: {
      prepare: {
        invoke: {
          src: "prepare",
          input: ({ context }) => context,
          onDone: {
            target: "waiting",
            actions: assign({ amount: ({ event }) => event.output.amount }),
          },
        },
      },
      waiting: { on: { approve: "act" } },
      act: {
        invoke: {
          src: "act",
          input: ({ context }) => ({ id: context.id, amount: context.amount }),
          onDone: { target: "done", actions: assign({ ok: ({ event }) => event.output.ok }) },
        },
      },
      done: { type: "final" },
    },
  });
}

export function approval({ state, execute }) {
  const machine = approvalMachine().provide({
    actors: {
      prepare: fromPromise(async ({ input }) => ({ amount: input.amount + 1 })),
      act: fromPromise(async ({ input }) => execute(input)),
    },
  });
  return async () => {
    const first = createActor(machine, { input: state });
    first.start();
    await waitFor(first, (snapshot) => snapshot.matches("waiting"));
    const text = JSON.stringify(first.getPersistedSnapshot());
    first.stop();
    const second = createActor(machine, { snapshot: JSON.parse(text), input: state });
    second.start();
    second.send({ type: "approve" });
    const end = await waitFor(second, (snapshot) => snapshot.status === "done");
    return end.context.ok;
  };
}

export function results(work) {
  const machine = setup({
    actors: {
      collect: fromPromise(async () => {
        const got = [];
        for (let n = 0; n < work.results; n++) got.push(await work.fetch(n));
        return got;
      }),
    },
  }).createMachine({
    id: "results",
    initial: "collect",
    context: { got: [] },
    states: {
      collect: {
        invoke: {
          src: "collect",
          onDone: { target: "waiting", actions: assign({ got: ({ event }) => event.output }) },
        },
      },
      waiting: { on: { approve: "done" } },
      done: { type: "final" },
    },
  });
  return async () => {
    const first = createActor(machine);
    first.start();
    await waitFor(first, (snapshot) => snapshot.matches("waiting"));
    const text = JSON.stringify(first.getPersistedSnapshot());
    first.stop();
    const second = createActor(machine, { snapshot: JSON.parse(text) });
    second.start();
    second.send({ type: "approve" });
    const end = await waitFor(second, (snapshot) => snapshot.status === "done");
    if (end.context.got.length !== work.results) throw new Error("lost");
    return text.length;
  };
}
