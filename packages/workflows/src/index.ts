// Registries
export {
  orderOf,
  runKeyWrite,
  runPlaceOf,
  runStatements,
  runWrite,
  startKeyOf,
  type RunColumns,
  type RunFilter,
  type RunKeyColumns,
  type RunOrder,
  type RunPage,
  type RunPlace,
  type RunRegistry,
  type RunStatus,
} from "./registry/store.ts";
export { memoryRunRegistry } from "./registry/memory.ts";
