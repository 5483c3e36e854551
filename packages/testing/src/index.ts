// Time and chance
export { testClock, type TestClock } from "./test-clock.ts";
export { testIds } from "./test-ids.ts";

// People
export {
  scriptedAnswers,
  scriptedPeople,
  verified,
  type Line,
  type Said,
  type ScriptedPeople,
  type Stage,
} from "./people.ts";

// Stores
export {
  faultyStore,
  type CommitCall,
  type Fault,
  type FaultControl,
  type FaultKind,
  type FaultyOptions,
} from "./faulty-store.ts";
export { runContract, type ContractCase, type Runner } from "./run-contract.ts";
