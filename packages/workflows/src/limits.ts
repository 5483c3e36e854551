/** Bounds of what comes from outside and of what is kept of a run, each with its reason. */

/** UTF-8 bytes of an input or a resume payload: larger things belong to a store, with their address in the input. */
export const documentBytesMax = 256 * 1024;
/** Nesting of an input: forms and tool calls are a few levels deep. */
export const documentDepthMax = 32;
/** Members of all its objects together. */
export const documentMembersMax = 4_096;

/** A definition's name: it becomes part of keys, and the slash after it must not be its own. */
export const definitionNamePattern = /^[A-Za-z][A-Za-z0-9._-]{0,63}$/;
/** A definition's version. */
export const definitionVersionPattern = /^[A-Za-z0-9][A-Za-z0-9.+_-]{0,63}$/;
export const descriptionCharactersMax = 1_024;

/** Issues of one refused document: past a few, nobody reads on. */
export const issuesMax = 20;
export const issueCharactersMax = 200;

/** What is kept of a failure and shown of a completed run. */
export const failureCharactersMax = 1_000;
export const summaryCharactersMax = 1_024;
export const reasonCharactersMax = 512;

/** A page of runs or of a history. */
export const pageDefault = 50;
export const pageMax = 500;

/** Runs of a session that are read at once while it is taken up: as many as a pool has connections for, with some to spare. */
export const takenUpAtOnceMax = 8;

/** Runs that waited before their session was taken and are looked at with one round. */
export const patrolPageMax = 50;

/** Sealed records that are known to be whole, and their longest: four megabytes in all at most. */
export const knownRecordsMax = 512;
export const knownRecordCharsMax = 8_192;

/** Tries of a wish to cancel against a run that moves meanwhile; each loses to a move, and moves are few. */
export const cancelTriesMax = 8;

/** Tries of a commit whose answer was lost, before the caller is told that it is not known. */
export const unknownTriesMax = 5;

/** How long a lease stands without a renewal: long enough for a slow store, short enough for people who wait. */
export const leaseMsDefault = 30_000;
/** Three renewals have to fit, each of them over a network. */
export const leaseMsMin = 300;
export const leaseMsMax = 3_600_000;

/** How often a supervisor looks for sessions to take, times that ran out and runs to try again. */
export const pollMsDefault = 5_000;
export const pollMsMin = 10;
export const pollMsMax = 60_000;

/** Runs that execute at once. */
export const workersDefault = 4;
export const workersMax = 256;

/** Sessions of one supervisor: each renews a lease of its own. */
export const sessionsMax = 1_000;

/** Decisions taken by a supervisor that its trail has yet to tell of: what is past so many is heard of twice. */
export const toldMax = 1_000;

/** How long a shutdown lets runs go on by default. */
export const shutdownMsDefault = 5_000;
/** The part of it that aborted runs get to stop in, at most. */
export const abortedMsMax = 1_000;

/** The longest pause before a run is tried again that its store kept from going on. */
export const retryMsMax = 60_000;

/** Attempts that a definition's policy may make of one run: past so many only a person knows better. */
export const policyAttemptsMax = 100;
/** The longest pause before such a retry: it is waited for in a process. */
export const policyBackoffMsMax = 3_600_000;

/** What a model gets at once: its context is dear, and a cursor leads on. */
export const toolDefinitionsMax = 100;
export const toolPageMax = 100;
export const toolWaitsMax = 20;
export const toolDescriptionCharactersMax = 256;

/** One line of a history. */
export const activityCharactersMax = 512;

/** How long a host's port may take over one delivery, and how many it gets at once. */
export const notifyMsMax = 30_000;
export const courierPageMax = 8;
/** The pause before a failed delivery is made again, the first and the longest. */
export const notifyPauseMs = 1_000;
export const notifyPauseMsMax = 300_000;
