/**
 * Seeds that found something in the worlds as they are, and what, or that get somewhere rare: run before all others. A change of the simulator makes other
 * worlds of them; what they found is held by the tests of the packages, and what was found in earlier worlds by those alone.
 */
export const fixtures: ReadonlyMap<number, string> = new Map([
  [
    15,
    "an approval of a call in doubt lost its outcome to a crash right after the answer was spent",
  ],
  [40, "a wish to cancel a waiting run was found by nobody"],
  [162, "none: a process dies in the middle of a cancel, and what it took back is asked for again"],
  [1473, "none: a run fails, which few do"],
  [
    49547,
    "a run that was asked about while its session was being taken, by its new owner, was executed by nobody",
  ],
  [
    73261,
    "a start whose commit stood though its caller was told that the store is away was executed by nobody",
  ],
  [
    81177,
    "a question was refused by a term that was over for a moment, and that put on record as the call's failure",
  ],
  [
    88153,
    "a question that was still being filed when its run was cancelled outlived it, its process having died by then",
  ],
  [
    638823,
    "work that nobody waited for since a store was away filed a question when its run had been taken up again, and had spent the first",
  ],
]);
