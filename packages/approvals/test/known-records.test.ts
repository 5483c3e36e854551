// A sealed text that was verified a moment ago is believed without its MAC being made again; nothing else about a row is.
import { createKeyring } from "@holdpoint/seal";
import { nodeMac } from "@holdpoint/seal/node";
import { describe, expect, it } from "vitest";

import type { Row } from "../src/index.ts";
import { KnownRecords } from "../src/known-records.ts";
import { limits } from "../src/limits.ts";
import { plainSealer, RecordCodec } from "../src/record-codec.ts";
import { filed } from "../src/record.ts";
import { requestFor, scope } from "./world.ts";

/** Codecs over a keyring of these bytes, which counts the MACs that are made with it. */
function counting(byte: number) {
  let macs = 0;
  const keyring = createKeyring({
    current: { id: "k1", key: new Uint8Array(32).fill(byte) },
    mac: {
      prepare(key) {
        const mac = nodeMac.prepare(key);
        return (head, body) => {
          macs += 1;
          return mac(head, body);
        };
      },
    },
  });
  const codec = () => new RecordCodec({ keyring, sealer: plainSealer, schema: () => undefined });
  /** How many MACs something takes. */
  const macsOf = (work: () => unknown): number => {
    const before = macs;
    work();
    return macs - before;
  };
  return { codec, macsOf };
}

/** The row of a record that waits, as a codec writes it. */
function waiting(codec: RecordCodec): Row {
  const { id, kind, tool, runId, node, callId, argumentKey, requestedBy, rule } = requestFor();
  const moved = filed(
    {
      id,
      facts: { kind, tool, scope, runId, node, callId, argumentKey, requestedBy, rule },
      context: codec.bindContext(undefined),
      requestedAt: 1,
      expiresAt: undefined,
      requestKey: "key",
      proposed: codec.bind({ cents: 1 }),
      calledDigest: codec.bind({ cents: 1 }).digest,
      replaces: undefined,
    },
    "attempt",
  );
  const [put] = codec.writes(undefined, moved, { attemptId: "attempt" });
  return { key: id, version: 1, attempt: "attempt", values: put!.values } as Row;
}

describe("a record that is known already", () => {
  it("APR-25 is believed by all of its characters, and compared with where it stands each time", () => {
    const { codec, macsOf } = counting(7);
    const row = waiting(codec());
    const reader = codec();
    const [first] = [reader.examine(scope, row)];
    expect(macsOf(() => expect(reader.examine(scope, row)).toEqual(first))).toBe(0);
    const sealed = String(row.values["sealed"]).replace("issue_refund", "issue_refunt");
    const faults: readonly (readonly [Row, string])[] = [
      [{ ...row, values: { ...row.values, sealed } }, scope],
      [{ ...row, values: { ...row.values, tool: "other" } }, scope],
      [{ ...row, version: 2 }, scope],
      [{ ...row, key: "other" }, scope],
      [row, "other"],
    ];
    for (const [changed, of] of faults)
      expect(reader.examine(of, changed)).toMatchObject({ fault: { code: "record-tampered" } });
  });

  it("APR-28 is nothing to a reader with other keys", () => {
    const row = waiting(counting(7).codec());
    const other = counting(9);
    expect(other.codec().examine(scope, row)).toMatchObject({ fault: { code: "record-tampered" } });
    const twin = counting(7); // the same key, in another ring: verified by its own MAC, once
    expect(twin.macsOf(() => twin.codec().examine(scope, row))).toBe(1);
    expect(twin.macsOf(() => twin.codec().examine(scope, row))).toBe(0);
  });

  it("APR-25 can be changed by nobody who reads it", () => {
    const { codec } = counting(7);
    const opened = codec().examine(scope, waiting(codec()));
    if ("fault" in opened) throw opened.fault;
    expect(() => Object.assign(opened.record.facts, { tool: "other" })).toThrow(TypeError);
    expect(() => Object.assign(opened.chain, { count: 0 })).toThrow(TypeError);
    expect(() => (opened.record.votes as unknown[]).push({})).toThrow(TypeError);
  });

  it("APR-25 is forgotten once others came, and a long one is not kept", () => {
    const known = new KnownRecords();
    const record = { header: {}, text: "", body: 1 };
    for (let at = 0; at <= limits.knownRecordsMax; at += 1) known.keep(`text ${at}`, record);
    expect([known.of("text 0"), known.of("text 1")]).toEqual([undefined, record]);
    known.keep("one more", record);
    expect([known.of("text 1"), known.of("text 2")]).toEqual([record, undefined]); // it was read since
    const long = "x".repeat(limits.knownCharactersMax + 1);
    known.keep(long, record);
    expect(known.of(long)).toBeUndefined();
  });
});
