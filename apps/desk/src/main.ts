/**
 * The desk's command line, and the one place that reads the environment.
 *
 * Exit codes: 0 done; 1 the job could not be done, or the books differ; 2 wrong usage. Bad lines are reported and do not
 * count: the rest was done.
 */
import process from "node:process";
import { parseArgs } from "node:util";

import { demo } from "./demo.ts";
import { DeskError, sentence } from "./failure.ts";
import { folderAt } from "./folder.ts";
import { importFile } from "./import.ts";
import { sample } from "./sample.ts";
import { Screen } from "./screen.ts";

const usage = `usage: desk demo [--keep DIR]
       desk import FILE [--orders FILE] [--dir DIR]

demo     works 200 refund requests through, kills itself half-way, and shows that the books balance;
         its files are removed at the end, or kept in DIR, which has to be new or empty
import   works a file of refund requests through, and says what waits for a person;
         --orders is the order book (default: the sample's), --dir keeps the desk (default: desk-data)

DESK_KEY, 64 hexadecimal digits, seals the store; without it the key is DIR/desk.key.`;

const terminal = process.stdout.isTTY === true && process.env["CI"] === undefined;
const screen = new Screen({
  write: (text) => void process.stdout.write(text),
  live: terminal,
  coloured: terminal && process.env["NO_COLOR"] === undefined,
});

async function run(args: readonly string[]): Promise<void> {
  const { positionals, values } = parsed(args);
  const [command, file, ...more] = positionals;
  if (command === "demo" && file === undefined) {
    return demo(screen, { keep: values.keep, key: process.env["DESK_KEY"] });
  }
  if (command === "import" && file !== undefined && more.length === 0) {
    return importFile(screen, {
      requests: file,
      orders: values.orders ?? sample.orders,
      folder: folderAt(values.dir ?? "desk-data"),
      key: process.env["DESK_KEY"],
    });
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

try {
  await run(process.argv.slice(2));
} catch (error) {
  screen.keep();
  process.stderr.write(`${sentence(error)}\n`);
  process.exitCode = error instanceof DeskError && error.code === "usage" ? 2 : 1;
}
