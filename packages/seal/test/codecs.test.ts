import Big from "big.js";
import { Decimal } from "decimal.js";
import { describe, expect, it } from "vitest";

import { createSealer, defineCodec, type Codec } from "../src/index.ts";
import { decimalCodec } from "../src/codecs/decimal.ts";
import { urlCodec } from "../src/codecs/url.ts";
import { refusal, refusalCode } from "./refusal.ts";

class Point {
  x: number;
  y: number;
  constructor(x: number, y: number) {
    this.x = x;
    this.y = y;
  }
}
const point = defineCodec({
  type: "geo/point",
  is: (value): value is Point => value instanceof Point,
  encode: (value) => [value.x, value.y],
  decode: ([x, y]: number[]) => new Point(x!, y!),
});

function withCodec(codec: Partial<Codec>): ReturnType<typeof createSealer> {
  return createSealer({ codecs: [{ ...(point as Codec), ...codec }] });
}

describe("codecs", () => {
  it("SEAL-16 SEAL-45 writes a claimed value by the codec's type and its stand-in", () => {
    const own = createSealer({ codecs: [point] });
    const text = own.encode({ at: new Point(1, -0) });
    expect(text).toBe('{"at":{"$codec":["geo/point",[1,{"$num":"-0"}]]}}');
    expect(own.decode(text)).toEqual({ at: new Point(1, -0) });
    expect(own.canonicalize(new Set([new Point(2, 0), new Point(1, 0)]))).toBe(
      '{"$set":[{"$codec":["geo/point",[1,0]]},{"$codec":["geo/point",[2,0]]}]}',
    );
  });

  it("SEAL-45 asks codecs only for what the format doesn't know", () => {
    const asked: unknown[] = [];
    const own = withCodec({ is: (value) => (asked.push(value), false) });
    own.encode([{}, [], new Map(), new Date(0), new Uint8Array(1), null, "a", 1n]);
    expect(asked).toEqual([]);
    expect(refusal(() => own.encode([new Point(1, 2)])).found).toBe("an instance of Point");
    expect(asked).toHaveLength(1);
    const functions = createSealer({
      codecs: [
        defineCodec({
          type: "fn",
          is: (v): v is () => void => typeof v === "function",
          encode: () => "f",
          decode: () => () => {},
        }),
      ],
    });
    expect(functions.encode([() => {}])).toBe('[{"$codec":["fn","f"]}]');
  });

  it("SEAL-45 takes the first codec that claims, and refuses two of one name", () => {
    const second = defineCodec({
      ...point,
      type: "second",
      is: point.is as (v: unknown) => v is Point,
    });
    expect(createSealer({ codecs: [second, point] }).encode(new Point(1, 2))).toContain('"second"');
    expect(refusal(() => createSealer({ codecs: [point, point] })).message).toBe(
      "two codecs are named geo/point",
    );
    for (const type of ["", "1", "a b", "$x", "a".repeat(65)]) {
      const error = refusal(() =>
        defineCodec({ ...point, type, is: point.is as (v: unknown) => v is Point }),
      );
      expect([error.code, error.message]).toEqual([
        "option-invalid",
        "a codec's name is 1 to 64 of A-Z a-z 0-9 . _ / -",
      ]);
    }
  });

  it("SEAL-45 R046 names the codec that throws, cycles, or returns what can't be sealed", () => {
    const value = { a: [new Point(1, 2)] };
    const boom = (): never => {
      throw new Error("boom");
    };
    const thrown = refusal(() => withCodec({ encode: boom }).encode(value));
    expect([
      thrown.code,
      thrown.path,
      thrown.codecOrModel,
      (thrown.cause as Error).message,
    ]).toEqual(["state-not-sealable", "a[0]", "codec geo/point", "boom"]);
    expect(refusal(() => withCodec({ is: boom }).encode(value)).found).toMatch(/codec threw/);
    const unsealable = refusal(() => withCodec({ encode: () => ({ f: () => 1 }) }).encode(value));
    expect([unsealable.path, unsealable.codecOrModel]).toEqual([
      "a[0].standIn.f",
      "codec geo/point",
    ]);
    const cycle: unknown[] = [];
    cycle.push(cycle);
    expect(refusal(() => withCodec({ encode: () => cycle }).encode(value)).found).toMatch(
      /^a cycle/,
    );
    const endless = refusal(() => withCodec({ encode: () => new Point(1, 2) }).encode(value));
    expect([endless.code, endless.codecOrModel]).toEqual(["state-not-sealable", "codec geo/point"]);
    expect(refusal(() => withCodec({ encode: (same) => same }).encode(value)).found).toMatch(
      /^a cycle/,
    );
    expect(
      refusal(() => withCodec({ encode: () => "x".repeat(2 ** 25) }).encode(value)).found,
    ).toMatch(/bytes/);
    const after = createSealer({ codecs: [point] });
    expect(refusal(() => after.encode([new Point(1, 2), () => 1])).codecOrModel).toBeUndefined();
  });

  it("SEAL-45 R046 names the codec whose decode throws, and refuses an unknown one", () => {
    const own = withCodec({
      decode: () => {
        throw new Error("bad");
      },
    });
    const error = refusal(() => own.decode('{"a":{"$codec":["geo/point",[1,2]]}}'));
    expect([error.code, error.path, error.found, (error.cause as Error).message]).toEqual([
      "seal-malformed",
      "a.$codec",
      "codec geo/point threw",
      "bad",
    ]);
    const unknown = refusal(() => own.decode('[{"$codec":["other",1]}]'));
    expect([unknown.code, unknown.path]).toEqual(["class-not-allowed", "[0].$codec"]);
    const inner = refusal(() =>
      own.decode('{"$codec":["geo/point",[{"$codec":["geo/point",1]}]]}'),
    );
    expect(inner.path).toBe("$codec[1][0].$codec");
    expect(refusal(() => own.decode('{"$codec":[1,1]}')).found).toBe("not a string");
    expect(refusalCode(() => own.decode('{"$codec":["geo/point",{"$x":1}]}'))).toBe(
      "seal-malformed",
    );
  });

  it("SEAL-45 refuses a map or set whose members a codec makes one", () => {
    const own = withCodec({ decode: () => "same" });
    const member = (n: number): string => `{"$codec":["geo/point",${n}]}`;
    expect(refusal(() => own.decode(`{"$set":[${member(1)},${member(2)}]}`)).found).toMatch(
      /Set became one/,
    );
    expect(refusal(() => own.decode(`{"$map":[[${member(1)},1],[${member(2)},2]]}`)).found).toMatch(
      /Map became one/,
    );
  });

  it("SEAL-22 reads each property once where a codec's code runs in between", () => {
    const victim = { a: 1, list: [1, 2] };
    const meddling = withCodec({
      encode() {
        Object.defineProperty(victim, "a", { get: () => 666, enumerable: true });
        victim.list[0] = 666;
        return 0;
      },
    });
    expect(meddling.encode([victim, new Point(1, 2)])).toBe(
      '[{"a":1,"list":[1,2]},{"$codec":["geo/point",0]}]',
    );
    expect(refusal(() => meddling.encode([new Point(1, 2), victim])).found).toBe("an accessor");
    expect(
      refusal(() =>
        meddling.encode(Object.defineProperty([1], 0, { get: () => 1, enumerable: true })),
      ).found,
    ).toBe("an accessor");
  });

  it("SEAL-46 keeps URLs, and refuses another spelling of one", () => {
    const own = createSealer({ codecs: [urlCodec] });
    const value = { home: new URL("https://example.com/a?b=c#d") };
    expect(own.encode(value)).toBe('{"home":{"$codec":["url","https://example.com/a?b=c#d"]}}');
    expect((own.decode(own.encode(value)) as typeof value).home.searchParams.get("b")).toBe("c");
    for (const bad of ["https://EXAMPLE.com/", "https://example.com", "nonsense"]) {
      expect(refusal(() => own.decode(`{"$codec":["url","${bad}"]}`)).found).toBe(
        "codec url threw",
      );
    }
    expect(refusalCode(() => own.encode([Object.create(URL.prototype)]))).toBe(
      "state-not-sealable",
    );
    expect(refusalCode(() => own.encode([new Point(1, 2)]))).toBe("state-not-sealable");
    expect(refusalCode(() => own.encode([() => 1]))).toBe("state-not-sealable");
    const callable = Object.setPrototypeOf(() => 1, URL.prototype) as unknown;
    const others = [null, undefined, "https://example.com/", {}, Object.create(null), callable];
    expect(others.map((other) => urlCodec.is(other))).toEqual(others.map(() => false));
    expect(urlCodec.is(value.home)).toBe(true);
  });

  it.each([
    ["decimal.js", decimalCodec(Decimal), (text: string) => new Decimal(text)],
    ["big.js", decimalCodec(Big), (text: string) => new Big(text)],
  ] as const)("SEAL-46 keeps the decimals of %s exactly", (_, codec, make) => {
    const own = createSealer({ codecs: [codec as Codec] });
    for (const text of [
      "0",
      "-0",
      "1.50",
      "123456789012345678901234567890.123456789",
      "1e-30",
      "-9e99",
    ]) {
      const written = own.encode(make(text));
      const back = own.decode(written) as { toExponential(): string; eq(other: unknown): boolean };
      expect(back.eq(make(text))).toBe(true);
      expect(back.toExponential()).toBe(make(text).toExponential());
      expect(own.encode(back)).toBe(written);
    }
    expect(own.encode(make("1.5"))).toBe('{"$codec":["decimal","1.5e+0"]}');
    for (const bad of ['"1.5"', '"1.50e+0"', '"x"', "1.5"]) {
      expect(refusal(() => own.decode(`{"$codec":["decimal",${bad}]}`)).found).toBe(
        "codec decimal threw",
      );
    }
    expect(refusalCode(() => own.encode([() => 1]))).toBe("state-not-sealable");
    expect(refusalCode(() => own.encode([new Point(1, 2)]))).toBe("state-not-sealable");
    const others: readonly unknown[] = [null, undefined, "1.5", 1.5, {}, Object.create(make("1"))];
    expect(others.map((other) => codec.is(other))).toEqual(others.map(() => false));
  });

  it("SEAL-46 keeps decimals apart by the name that is given", () => {
    const own = createSealer({
      codecs: [decimalCodec(Decimal), decimalCodec(Big, "big") as Codec],
    });
    expect(own.encode([new Decimal(1), new Big(1)])).toBe(
      '[{"$codec":["decimal","1e+0"]},{"$codec":["big","1e+0"]}]',
    );
  });
});
