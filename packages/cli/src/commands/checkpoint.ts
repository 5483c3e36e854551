/** A checkpoint in a file, as `dumpCheckpoint` gives it. */
import { isSealError, PURPOSES, verify, type Header } from "@holdpoint/seal";

import type { Command } from "../command.ts";
import { tableLines } from "../table.ts";
import { textOf } from "./runs-export.ts";

export const checkpointShow: Command = {
  path: "checkpoint show",
  summary: "what a checkpoint says of itself; nothing of that is verified here",
  operands: ["FILE"],
  options: {},
  async run(desk, given, output) {
    const header = headerIn(await textOf(desk.folder, given.operand(0)));
    output.say({ verified: false, header: header ?? null }, () =>
      header === undefined
        ? ["this is no checkpoint"]
        : [...headerLines(header), "nothing of this was verified: see checkpoint verify"],
    );
    return header === undefined ? 3 : 0;
  },
};

export const checkpointVerify: Command = {
  path: "checkpoint verify",
  summary: "check a checkpoint by its seal",
  operands: ["FILE"],
  options: {},
  async run(desk, given, output) {
    const text = await textOf(desk.folder, given.operand(0));
    try {
      const { header } = verify(text, { keyring: desk.keyring, purpose: PURPOSES.checkpoint });
      output.say({ status: "whole", header }, () => ["whole", ...headerLines(header)]);
      return 0;
    } catch (error) {
      if (!isSealError(error)) throw error;
      const { code, message } = error;
      output.say({ status: "broken", code, message }, () => [`broken: ${message}`]);
      return 3;
    }
  },
};

/** The header as the text has it, by nobody's word; `undefined` where it is no envelope of a checkpoint. */
function headerIn(text: string): Header | undefined {
  try {
    const { body, mac, ...header } = JSON.parse(text) as Record<string, unknown>;
    const isOne = header["purpose"] === PURPOSES.checkpoint;
    return isOne && typeof body === "string" && typeof mac === "string"
      ? (header as Header)
      : undefined;
  } catch {
    return undefined;
  }
}

function headerLines(header: Header): readonly string[] {
  const rows = Object.entries(header).map(([name, value]) => [
    name,
    typeof value === "object" ? JSON.stringify(value) : String(value),
  ]);
  return tableLines(["", ""], rows).slice(1);
}
