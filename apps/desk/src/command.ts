import { parseArgs } from "node:util";

import { demo } from "./demo.ts";
import { DeskError, sentence } from "./failure.ts";
import { folderAt } from "./folder.ts";
import { importFile } from "./import.ts";
import { sample } from "./sample.ts";
import type { Screen } from "./screen.ts";

const usage = `usage: desk demo [--keep DIR]
       desk import FILE [--orders FILE] [--dir DIR]

demo     works 200 refund requests through, kills its worker half-way,
         and shows that the books balance
  --keep DIR     keep its files in DIR, which has to be new or empty;
                 without it they are removed at the end

import   works a file of refund requests through,
         and says what waits for a person
  --orders FILE  the order book (default: the sample's)
  --dir DIR      where the desk is kept (default: desk-data)

DESK_KEY, 64 hexadecimal digits, seals the store;
without it the key is in DIR/desk.key.`;

/** What the desk takes from its environment. */
export interface Settings {
  readonly DESK_KEY?: string | undefined;
}

/** Does what a command line asks for. @throws DeskError `usage` where it can't be understood, and what went wrong */
export async function runCommand(
  args: readonly string[],
  settings: Settings,
  screen: Screen,
): Promise<void> {
  const { positionals, values } = parsed(args);
  const [command, file, ...more] = positionals;
  const { keep, orders, dir } = values;
  const key = settings.DESK_KEY;
  if (values.help === true) return screen.line(usage);
  if (command === "demo" && file === undefined) {
    refuseOptions(command, { orders, dir });
    return demo(screen, { keep: named("--keep", keep), key });
  }
  if (command === "import" && file !== undefined && more.length === 0) {
    refuseOptions(command, { keep });
    const folder = folderAt(named("--dir", dir) ?? "desk-data");
    return importFile(screen, { requests: file, orders: orders ?? sample.orders, folder, key });
  }
  throw new DeskError("usage", usage);
}

/** What would do nothing is not taken as if it did. */
function refuseOptions(command: string, options: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue;
    throw new DeskError("usage", `--${name} is no option of ${command}\n\n${usage}`);
  }
}

/** A folder that an option names: an empty text, as an unset variable gives, is none. */
function named(option: string, folder: string | undefined): string | undefined {
  if (folder === "") throw new DeskError("usage", `${option} names no folder\n\n${usage}`);
  return folder;
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        help: { type: "boolean", short: "h" },
        keep: { type: "string" },
        orders: { type: "string" },
        dir: { type: "string" },
      },
    });
  } catch (error) {
    throw new DeskError("usage", `${sentence(error)}\n\n${usage}`);
  }
}
