import { digest } from "@holdpoint/seal";

import { compileWalk } from "./input-walk.ts";
import type { AnyTool, ToolInput } from "./tool.ts";
import { recordOf, type ToolRecord } from "./tool-record.ts";

/**
 * An input as the caller passed it, read through the tool's schema: a copy that later changes of
 * the caller's object don't reach, without anything that the schema itself would make (FLOW-31).
 */
export interface InputSnapshot {
  readonly value: unknown;
  /**
   * The journal key: digest of tool and canonical input. Computed when first asked for.
   * @throws NotSealableError where the input can't be sealed and the tool gives no `key`.
   */
  key(): string;
}

/** Digests a value's canonical form; a sealer with the caller's models and codecs can stand in. */
export interface Digester {
  digest(value: unknown): string;
}

/**
 * Takes the input, synchronously: call it in the turn in which the caller made the call.
 *
 * @throws ToolDefinitionError `foreign-tool`, `not-a-tool`.
 */
export function inputOf<T extends AnyTool>(
  tool: T,
  input: ToolInput<T>,
  digester: Digester = { digest },
): InputSnapshot {
  const record = recordOf(tool);
  return new Snapshot(record, record.walk()(input, "snapshot"), digester);
}

/**
 * Takes inputs of something that is no tool and is begun by a schema all the same, as a flow is: compiled once, read as a
 * tool's are. `name` tells it apart from others with equal inputs.
 */
export function inputReader(
  name: string,
  schema: unknown,
): (input: unknown, digester?: Digester) => InputSnapshot {
  const walk = compileWalk(schema);
  const record: Keyed = { name, key: undefined, walk: () => walk };
  return (input, digester = { digest }) => new Snapshot(record, walk(input, "snapshot"), digester);
}

type Keyed = Pick<ToolRecord, "name" | "key" | "walk">;

/** Its value is private to the language: printing a snapshot shows no arguments (TOOL-11). */
class Snapshot implements InputSnapshot {
  readonly #record: Keyed;
  readonly #value: unknown;
  readonly #digester: Digester;
  #key: string | undefined;

  constructor(record: Keyed, value: unknown, digester: Digester) {
    this.#record = record;
    this.#value = value;
    this.#digester = digester;
  }

  get value(): unknown {
    return this.#value;
  }

  key(): string {
    this.#key ??= this.#digester.digest([this.#record.name, this.#form()]);
    return this.#key;
  }

  #form(): unknown {
    const { key, walk } = this.#record;
    return key === undefined ? walk()(this.#value, "key") : key(this.#value);
  }
}
