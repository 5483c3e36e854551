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
  atEvent,
  faultyStore,
  type CommitCall,
  type Fault,
  type FaultControl,
  type FaultKind,
  type FaultyOptions,
} from "./faulty-store.ts";
export {
  struckHandle,
  type DriverHandle,
  type DriverStatement,
  type Strike,
} from "./struck-handle.ts";
export { crashAt, type CrashMoment, type CrashPoint, type CrashStrike } from "./crash-point.ts";
export { failAt, type DriverFaultKind, type DriverFaultStrike } from "./driver-fault.ts";
export { runContract, type ContractCase, type Runner } from "./run-contract.ts";
