/** The bounds of one run and one graph, each with its reason. Settings can lower most of them for a run. */

/** Rounds a run may take when its runner says nothing: a loop that never ends stops here (FLOW-05). */
export const roundsMaxDefault = 10_000;

/** Visits of one node that a run may make when nobody says otherwise. */
export const visitsMaxDefault = 10_000;

/** Nodes of a round that execute side by side when a runner says nothing; more only grows memory in one process. */
export const concurrencyDefault = 16;

/** Runs within each other: a flow that contains itself and never comes to an end stops here. */
export const nestedDepthMax = 64;

/** Items of one map: each is kept until its map has finished. */
export const mapItemsMax = 100_000;

/** A node's, flow's or interrupt's name: it becomes part of ids, keys and paths. */
export const namePattern = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;

/** A run id given by hand: it becomes a store's key and a header of every seal. */
export const runIdPattern = /^[A-Za-z0-9._:-]{1,128}$/;

/** Resumed checkpoints remembered by a process, for ports that keep no records (FLOW-57). */
export const spentMax = 100_000;

/** How long they are remembered, in milliseconds: 24 hours. */
export const spentMs = 86_400_000;

/** Tries of a commit whose answer was lost before the run gives up without knowing. */
export const unknownTriesMax = 5;

/** A sealed checkpoint's text, in characters: 64 MiB leaves room for 6,000 results of 10 KB. */
export const checkpointCharsMax = 64 * 1024 * 1024;

/** What a checkpoint or a snapshot holds, in UTF-8: 16 MiB, as much as a seal's body takes. */
export const checkpointBytesMax = 16 * 1024 * 1024;

/** What info, cursor and answer of an interrupt may take as sealed UTF-8, each: 1 MiB, as much as a form can hold. */
export const interruptBytesMax = 1024 * 1024;

/** Events of a log that one read takes. */
export const logPageMax = 1_000;

/** How often writes beside a run's own are made anew because somebody else moved their row. */
export const alongTriesMax = 8;

/** Events between two snapshots of a run, at least: so many are read and folded in a few milliseconds. */
export const snapshotEventsMin = 256;

/** How many times a snapshot's length has to be logged before the next: what all of them cost stays a quarter of the log. */
export const snapshotCharsFactor = 4;
