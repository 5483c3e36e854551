/**
 * Seeds that once found something, and what: run before all others. A change of the simulator makes other worlds of them; what
 * they found is held by the tests of the packages.
 */
export const fixtures: ReadonlyMap<number, string> = new Map([
  [24, "an approval that its port answered at once was asked for again after a crash"],
  [35, "a settle in a store apart whose process died was looked for by nobody"],
  [39, "a run in doubt was tried again and again without a pause, asking anew each time"],
  [48, "a gate that a recovery settled had no outcome"],
  [60, "two processes announced settles of one approval, and the one that stood was forgotten"],
  [75, "a run went on behind events that a store away had kept from its log"],
  [177, "the same, read as tampering"],
  [158, "a registry stopped following a run that had moved while it was taken up"],
  [114, "a run that moved while it was read was taken for a row put back"],
  [204, "a question filed right before a crash outlived its run's cancellation"],
  [233, "a denial for the run withdrew the very record that it stands on"],
  [
    507,
    "an attempt announced for an approval consumed a denial, and its first owner took it for the approval",
  ],
]);
