/**
 * Sealing a run's state into a checkpoint, and checking beforehand that this will work (FLOW-26, FLOW-27).
 */
import { sign } from "@holdpoint/seal";

import { FlowError } from "../errors.ts";
import type { Graph } from "../graph/flow.ts";
import type { State } from "../graph/node.ts";
import { checkpointBytesMax } from "../limits.ts";
import type { Sealed } from "../run/live.ts";
import type { Parts } from "../run/parts.ts";
import { openWaits, pendingView } from "../run/pending.ts";
import type { RunState } from "../run/state.ts";
import { Checkpoint } from "./checkpoint.ts";
import { graphHeader } from "./graph-header.ts";
import { formsBeside, sealable, stateForm, type FormParts } from "./form.ts";
import { BodyWritten } from "./body.ts";

/**
 * The version of what a checkpoint holds. History:
 * 1: first release. An older reader refuses a newer version by name.
 */
export const checkpointVersion = 1;

/**
 * A run's state as text. Where classes or codecs of the user's take part, it is opened again and compared: what could be
 * written and not be built again is found here, before anybody is asked. Everything else comes back exactly by the codec's
 * own rule (SEAL-23).
 * @throws FlowError `state-not-sealable` with the path of what can't be.
 */
export function encodeState(run: RunState, graph: Graph, parts: Parts): string {
  // The manifest goes into the header, where a refusal can read it before anything is decoded.
  const seed = { ...run.seed, manifest: {} };
  const body = new BodyWritten(seed);
  const how = { ...formParts(graph, parts), body };
  const form = encoded(run, graph, parts, () => stateForm({ ...run, seed }, how));
  const text = body.behind(form);
  checkLength(text, run.seed.runId);
  return text;
}

/** What a seal takes at all: the form's own length is the sealer's to check. */
function checkLength(body: string, runId: string): void {
  if (body.length * 3 <= checkpointBytesMax) return;
  if (new TextEncoder().encode(body).length <= checkpointBytesMax) return;
  throw new FlowError(
    "state-not-sealable",
    `the run's state can't be sealed: its text passes ${checkpointBytesMax} bytes. Keep bulk data outside`,
    { runId },
  );
}

/**
 * Checks that a run can be sealed: the whole where nothing of it is `known`, which is filled, and then what has come in since.
 * So whoever asks a thousand people does not encode a thousand times what it asked before. Whether the whole is too large is
 * said at the first question and at the pause. @throws FlowError `state-not-sealable`
 */
export function checkSealable(
  run: RunState,
  graph: Graph,
  parts: Parts,
  known: WeakSet<object> | undefined,
): WeakSet<object> {
  const now = known ?? new WeakSet();
  const forms = formsBeside(now, run, formParts(graph, parts));
  if (known === undefined) encodeState(run, graph, parts);
  else for (const form of forms) encoded(run, graph, parts, form);
  return now;
}

function encoded(run: RunState, graph: Graph, parts: Parts, form: () => unknown): string {
  const { sealer } = parts;
  const { runId } = run.seed;
  return sealable("the run's state", runId, () => {
    const body = sealer.encode(form());
    if (parts.exact) return body;
    const again = sealer.encode(sealer.decode(body, { schema: graph.reachable }));
    if (again !== body) {
      throw new FlowError(
        "state-not-sealable",
        "the run's state does not come back from its seal as it went in",
        { runId },
      );
    }
    return body;
  });
}

/** What the forms of a run of this graph are made with. */
export function formParts(graph: Graph, { sealer, exact }: Parts): FormParts {
  return { sealer, exact, reachable: graph.reachable };
}

/** Seals a run's encoded state. */
export function sealRun(body: string, run: RunState, parts: Parts): string {
  const { seed, revision, phase } = run;
  return sign(body, {
    keyring: parts.keyring,
    purpose: "checkpoint",
    header: {
      format: checkpointVersion,
      scope: seed.scope,
      run: seed.runId,
      ...graphHeader(seed),
      rev: revision,
      phase: phase.is,
    },
  }).text;
}

/** The checkpoint of a sealed run. `state` is for looking at: whoever goes on has one of their own. */
export function checkpointOf(
  run: RunState,
  text: string,
  state: () => State,
  sealed: Sealed = { digest: run.seed.digest, revision: run.revision },
): Checkpoint {
  return new Checkpoint(
    {
      runId: run.seed.runId,
      flow: run.seed.flow,
      ...sealed,
      counters: { ...run.counters, visits: Object.freeze({ ...run.visited }) },
      frontier: run.visits.map((visit) => visit.path),
      pendings: openWaits(run).map(pendingView),
    },
    state,
    text,
  );
}
