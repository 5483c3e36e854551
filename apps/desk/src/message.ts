import type { Pass } from "./work.ts";
import type { Operation } from "./provider.ts";

/** What a worker tells the process that started it. */
export type WorkerMessage =
  | { readonly kind: "progress"; readonly done: number; readonly all: number }
  /** It stands still between an effect and its journal, to be killed there. */
  | { readonly kind: "holding"; readonly operation: Operation; readonly count: number }
  | { readonly kind: "done"; readonly pass: Pass }
  | { readonly kind: "failed"; readonly message: string };

/** What a worker is started with. */
export interface WorkerOrder {
  readonly folder: string;
  readonly requests: string;
  readonly orders: string;
  /** Stand still for ever once this operation was committed so many times, before the desk hears of it. */
  readonly holdAt?: { readonly operation: Operation; readonly count: number };
}
