import { verify } from "@holdpoint/seal";
import type { Write } from "@holdpoint/approvals";

import { keyring } from "./keyring.ts";

/** What a commit writes, for people: the rows by kind, and the events of a log by name. */
export function labelOf(writes: readonly Write[]): string {
  return writes.map(labelOfOne).join(", ");
}

function labelOfOne({ statement, key, values, expect }: Write): string {
  if (statement === "log.append") return `${runOf(values)}#${values["revision"]} ${typeOf(values)}`;
  const state = values["state"] ?? values["status"];
  return `${statement} ${key.slice(0, 6)}@${expect}${state === undefined ? "" : ` ${state}`}`;
}

function runOf(values: Write["values"]): string {
  return String(values["run"]).slice(0, 6);
}

function typeOf(values: Write["values"]): string {
  if (String(values["text"]).startsWith("~")) return "with repeats"; // not whole by itself
  const { body } = verify(String(values["text"]), { keyring, purpose: "log-entry" });
  const name = /"type":"([a-z-]+)"/.exec(body);
  return name?.[1] ?? "?";
}
