import { parseArgs } from "node:util";

import { demo } from "./demo.ts";
import { DeskError, sentence } from "./failure.ts";
import { folderAt } from "./folder.ts";
import { importFile } from "./import.ts";
import { sample } from "./sample.ts";
import type { Screen } from "./screen.ts";

const usage = `usage: desk demo [--keep DIR]
       desk import FILE [--orders FILE] [--dir DIR]

demo     works 200 refund requests through, kills itself half-way, and shows that the books balance;
         its files are removed at the end, or kept in DIR, which has to be new or empty
import   works a file of refund requests through, and says what waits for a person;
         --orders is the order book (default: the sample's), --dir keeps the desk (default: desk-data)

DESK_KEY, 64 hexadecimal digits, seals the store; without it the key is in DIR/desk.key.`;

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
  const key = settings.DESK_KEY;
  if (command === "demo" && file === undefined) return demo(screen, { keep: values.keep, key });
  if (command === "import" && file !== undefined && more.length === 0) {
    const folder = folderAt(values.dir ?? "desk-data");
    const orders = values.orders ?? sample.orders;
    return importFile(screen, { requests: file, orders, folder, key });
  }
  throw new DeskError("usage", usage);
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { keep: { type: "string" }, orders: { type: "string" }, dir: { type: "string" } },
    });
  } catch (error) {
    throw new DeskError("usage", `${sentence(error)}\n\n${usage}`);
  }
}
