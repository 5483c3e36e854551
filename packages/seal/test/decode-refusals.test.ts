import { describe, expect, it } from "vitest";

import { createSealer, decode, encode } from "../src/index.ts";
import { refusal } from "./refusal.ts";

interface Row {
  readonly text: string;
  readonly reason: RegExp;
  readonly path?: string;
}

function rows(reason: RegExp, texts: readonly (string | readonly [string, string])[]): Row[] {
  return texts.map((text) =>
    typeof text === "string" ? { text, reason } : { text: text[0], reason, path: text[1] },
  );
}

const ROWS: readonly Row[] = [
  ...rows(/not JSON/, [
    "",
    "[",
    "]",
    "{",
    "nul",
    `"\\n${"x".repeat(600)}`,
    `["a\\n",${"é".repeat(3)}`.replace("é", '"'),
    "nulls",
    "[1,]",
    "[,1]",
    '{"a"}',
    '{"a":}',
    "{}{}",
    '"',
    '"\\"',
    '{"a":1}}',
    '"a""b"',
    '[1"a"]',
    "truefalse",
    '"\t"',
  ]),
  ...rows(/character that is not due/, [
    "{1:2}",
    "1E2",
    " null",
    "null ",
    ["[1, 2]", "[1]"],
    ['{"a": 1}', "a"],
    "\t0",
    "\n",
    "\ufeffnull",
    "/**/1",
    "'a'",
    "`",
    "(1)",
    "+1",
    ".5",
    "NaN",
    "_",
    "~",
    "{\u00a0}",
  ]),
  ...rows(/number in another spelling/, [
    "--1",
    "1.0",
    "1e2",
    "-0",
    "00",
    "01",
    "-01",
    "1e21",
    "1.0e+21",
    "9007199254740993",
    "1e400",
    "1e-400",
    "0.10",
    "-",
    "1-1",
    "5.",
    "1e",
    "100000000000000000000000000",
    "0.1e1",
    ['[1,{"a":[2,1.50]}]', "[1].a[1]"],
  ]),
  ...rows(/escape in another spelling/, [
    '"\\/"',
    '"\\u0041"',
    '"\\u000a"',
    '"\\u000A"',
    '"\\u001F"',
    '"\\u0000"',
    '"\\ud800"',
    '"\\ud83d\\ude00"',
    '"\\x41"',
    '"\\u00"',
    '"\\u0008"',
    '"\\u0009"',
    '"\\u000c"',
    '"\\u000d"',
    '"\\u0020"',
    '"\\u007f"',
    '"\\u0100"',
    '"\\u0101"',
    '"\\u1001"',
    '"\\u0011x"'.replace("0011", "0111"),
    '"\\u1000"',
    '"\\u001g"',
    '"\\u00g1"',
    '"a\\',
    ['{"a":["\\/"]}', "a[0]"],
    `"${"x".repeat(200)}\\/"`,
    `"é${"x".repeat(200)}\\/"`,
  ]),
  ...rows(/unpaired surrogate/, ['"\ud800"', '"\udc00\ud800"', "\ud800"]),
  ...rows(/name given twice/, [
    ['{"a":1,"a":1}', "a"],
    ['[{"b":{"a":1,"c":2,"a":3}}]', "[0].b.a"],
    ['{"a":1,"\\u001f":1,"\\u001f":2}', '["\\u001f"]'],
    ['{"$undefined":true,"$undefined":true}', "$undefined"],
    ['[{"$map":[],"$map":[]}]', "[0].$map"],
  ]),
  ...rows(/order that no object has/, [
    '{"a":1,"1":2}',
    '{"a":1,"0":2}',
    '{"a":1,"9":2}',
    '{"2":1,"1":2}',
    ['[{"10":1,"9":2}]', '[0]["9"]'],
    ['{"1":{"5":1},"0":{"6":1}}', '["0"]'],
    ['{"1":0,"a":{"2":1},"3":0}', '["3"]'],
    ['{"1":[{"7":0}],"a":[],"2":0}', '["2"]'],
    ['[{"5":0},{"a":0,"6":0}]', '[1]["6"]'],
    ['{"a":{"1":0},"2":0}', '["2"]'],
    '{"\\n":1,"7":0}',
    '{"é":1,"7":0}',
    '{"4294967294":0,"1":0}',
    '{"01":0,"1":0}',
    '{"4294967295":0,"1":0}',
    '{"12345678901":0,"1":0}',
  ]),
  ...rows(/unknown tag/, [
    ['{"$":1}', "$"],
    ['{"$x":1}', "$x"],
    ['[{"a":{"$date ":"x"}}]', '[0].a["$date "]'],
    '{"$Num":"NaN"}',
    '{"$constructor":1}',
    '{"$toString":1}',
  ]),
  ...rows(/tag with names beside it/, [
    '{"$num":"NaN","a":1}',
    '{"a":1,"$num":"NaN"}',
    '{"$num":"NaN","$bigint":"1"}',
    '{"$set":[],"":1}',
  ]),
  ...rows(/name due in a list of pairs/, [
    ['{"__proto__":1}', "__proto__"],
    '{"a":1,"__proto__":{"b":1}}',
    '[{"__proto__":[]}]',
  ]),
  ...rows(/NaN, Infinity/, [
    '{"$num":"nan"}',
    '{"$num":NaN}'.replace("NaN", "1"),
    '{"$num":"0"}',
    '{"$num":null}',
    '{"$num":["NaN"]}',
    '{"$num":"+Infinity"}',
  ]),
  ...rows(/bigint in its decimal/, [
    '{"$bigint":"01"}',
    '{"$bigint":"-0"}',
    '{"$bigint":"+1"}',
    '{"$bigint":""}',
    '{"$bigint":"1n"}',
    '{"$bigint":" 1"}',
    '{"$bigint":"0x1"}',
    '{"$bigint":"1\\n"}',
    `{"$bigint":"${"9".repeat(602)}"}`,
  ]),
  ...rows(/due in hexadecimal/, [
    `{"$bigint":"1${"0".repeat(600)}"}`,
    `{"$bigint":"${"9".repeat(601)}"}`,
  ]),
  ...rows(/hexadecimal spelling/, [
    '{"$bigint16":"-"}',
    '{"$bigint16":"0f"}',
    '{"$bigint16":"FF"}',
    '{"$bigint16":""}',
    '{"$bigint16":"0"}',
    `{"$bigint16":"-0${"f".repeat(600)}"}`,
    `{"$bigint16":"${"f".repeat(1024 * 1024 + 2)}"}`,
  ]),
  ...rows(/due in decimal/, [
    '{"$bigint16":"1"}',
    '{"$bigint16":"-ff"}',
    `{"$bigint16":"${(10n ** 600n - 1n).toString(16)}"}`,
  ]),
  ...rows(/bigint past the limit/, [`{"$bigint16":"${"f".repeat(1024 * 1024 + 1)}"}`]),
  ...rows(/payload of \$undefined/, [
    '{"$undefined":false}',
    '{"$undefined":1}',
    '{"$undefined":null}',
    '{"$undefined":[]}',
  ]),
  ...rows(/not a string/, [
    '{"$bigint":1}',
    '{"$bigint16":1}',
    '{"$date":0}',
    '{"$bytes":[1]}',
    '{"$utf16":null}',
    '{"$buffer":{}}',
    '{"$float64":true}',
  ]),
  ...rows(/UTF-16 units/, [
    '{"$utf16":"AAAA"}',
    '{"$utf16":"AA="}',
    '{"$utf16":"A"}',
    '{"$utf16":"AAB"}',
  ]),
  ...rows(/due in its plain form/, [
    '{"$utf16":""}',
    '{"$utf16":"YQA"}',
    '{"$utf16":"PdgA3g"}',
    '{"$object":[]}',
    '{"$object":[["a",1]]}',
    '{"$object":[["_proto_",1],["b",2]]}',
  ]),
  ...rows(/not a list$/, [
    '{"$map":{}}',
    '{"$set":1}',
    '{"$object":null}',
    '{"$map":"x"}',
    '{"$model":{}}',
    '{"$codec":"x"}',
    '{"$map":[1]}',
    '{"$map":[{}]}',
    '{"$object":["a"]}',
  ]),
  ...rows(/not a list of 2/, [
    '{"$map":[[1]]}',
    '{"$map":[[1,2,3]]}',
    '{"$object":[["$a"]]}',
    '{"$model":["a"]}',
    '{"$codec":["a",1,2]}',
  ]),
  ...rows(/key that is not a string/, [
    '{"$object":[[1,1],["$a",2]]}',
    '{"$object":[[null,1],["$a",2]]}',
    '{"$object":[[["a"],1],["$a",2]]}',
    '{"$object":[[{"$num":"NaN"},1],["$a",2]]}',
    '{"$object":[[{},1],["$a",2]]}',
  ]),
  ...rows(/key given twice/, [
    '{"$object":[["$a",1],["$a",2]]}',
    '{"$object":[[{"$utf16":"AAA"},1],[{"$utf16":"AAA"},1]]}',
  ]),
  ...rows(/keys out of order/, [
    '{"$object":[["$a",1],["1",2]]}',
    '{"$object":[["$a",1],["0",2]]}',
    '{"$object":[["1",1],["0",2],["$a",3]]}',
    '{"$object":[["2",1],["1",2],["$a",3]]}',
    '{"$object":[["0",1],["$a",3],["4294967294",2]]}',
  ]),
  ...rows(/key or member given twice/, [
    '{"$set":[1,1]}',
    '{"$map":[["a",1],["a",2]]}',
    '{"$set":[{"$num":"NaN"},{"$num":"NaN"}]}',
    '{"$set":[{"$bigint":"1"},{"$bigint":"1"}]}',
    '{"$set":[{"$undefined":true},{"$undefined":true}]}',
    '{"$set":[{"$utf16":"AAA"},{"$utf16":"AAA"}]}',
    '{"$map":[[null,1],[null,1]]}',
    '{"$set":[true,true]}',
    `{"$set":[${'{"$bigint16":"F"},'.replace("F", "f".repeat(600)).repeat(2).slice(0, -1)}]}`,
  ]),
  ...rows(/negative zero/, ['{"$set":[{"$num":"-0"}]}', '{"$map":[[{"$num":"-0"},1]]}']),
  ...rows(/base64 in its one spelling/, [
    '{"$bytes":"\u0100A"}',
    '{"$bytes":"A\u00ff"}',
    '{"$bytes":"A"}',
    '{"$bytes":"AA="}',
    '{"$bytes":"AA=="}',
    '{"$bytes":"AB"}',
    '{"$bytes":"AAB"}',
    '{"$bytes":"+/8"}',
    '{"$bytes":"A A"}',
    '{"$bytes":"é"}',
    '{"$bytes":"AAA\\n"}',
    '{"$bytes":"Ā\u0141"}',
    '{"$buffer":"A"}',
    '{"$dataview":"_"}',
    '{"$int8":"AA*"}',
  ]),
  ...rows(/whole number of elements/, [
    '{"$int16":"AA"}',
    '{"$float64":"AAAA"}',
    '{"$uint32":"AAAAAAA"}',
  ]),
  ...rows(/date with milliseconds/, [
    '{"$date":""}',
    '{"$date":"2026-01-01"}',
    '{"$date":"2026-01-01T00:00:00Z"}',
    '{"$date":"2026-01-01T00:00:00.000+00:00"}',
    '{"$date":"2026-01-01T00:00:00.0000Z"}',
    '{"$date":"12026-01-01T00:00:00.000Z"}',
    '{"$date":"2026-01-01T00:00:00.000Z\\n"}',
    '{"$date":" 2026-01-01T00:00:00.000Z"}',
  ]),
  ...rows(/no such date/, [
    '{"$date":"2026-02-30T00:00:00.000Z"}',
    '{"$date":"2026-13-01T00:00:00.000Z"}',
    '{"$date":"2026-01-01T24:00:00.000Z"}',
    '{"$date":"+002026-01-01T00:00:00.000Z"}',
    '{"$date":"-000000-01-01T00:00:00.000Z"}',
    '{"$date":"+275760-09-13T00:00:00.001Z"}',
  ]),
];

describe("a text is taken only in the one spelling of its value", () => {
  it.each(ROWS.map((row, index) => [index, row] as const))(
    "SEAL-24 refuses text %d of the table, with its path",
    (_, { text, reason, path }) => {
      const error = refusal(() => decode(text));
      expect([text.slice(0, 80), error.found]).toEqual([
        text.slice(0, 80),
        expect.stringMatching(reason),
      ]);
      expect(error.code).toBe("seal-malformed");
      expect(error.path).toBe(path ?? error.path);
    },
  );

  it("SEAL-08 SEAL-24 refuses `__proto__` as a name alike, whichever way a text is parsed", () => {
    for (const escaped of ["", '"\\n":0,']) {
      for (const held of ["1", "null", "{}", '{"a":1}', "[]"]) {
        const error = refusal(() => decode(`{"x":{${escaped}"__proto__":${held}}}`));
        expect([error.path, error.found]).toEqual(["x.__proto__", "a name due in a list of pairs"]);
      }
      const inherited = `{${escaped}"constructor":1,"toString":{"a":[2]},"hasOwnProperty":null}`;
      expect(encode(decode(inherited))).toBe(inherited);
    }
    const twice = refusal(() => decode('{"\\n":0,"toString":1,"toString":2}'));
    expect([twice.path, twice.found]).toEqual(["toString", "a name given twice"]);
  });

  it("SEAL-20 SEAL-26 takes a text of exactly the limit, and nothing past it", () => {
    for (const text of ['"text"', '"é✓😀"', `"${"é".repeat(20_000)}"`, `"${"x".repeat(40_000)}"`]) {
      const bytes = Buffer.byteLength(text);
      const reads = (limit: number) => createSealer({ limits: { bytes: limit } }).decode(text);
      expect(encode(reads(bytes))).toBe(text);
      const error = refusal(() => reads(bytes - 1));
      expect([error.found, error.limit]).toEqual([`more than ${bytes - 1} bytes`, bytes - 1]);
    }
  });

  it("SEAL-24 tells a name given twice from one out of order, where it is an index", () => {
    for (const text of ['{"1":0,"1":0}', '{"0":0,"1":0,"1":0,"a":0}']) {
      const error = refusal(() => decode(text));
      expect([error.path, error.found]).toEqual(['["1"]', "a name given twice"]);
    }
    for (const text of ['{"1":0,"0":0,"1":0}', '{"a":0,"4294967294":0}', '{"a":0,"0":0}'])
      expect(refusal(() => decode(text)).found).toBe("names in an order that no object has");
  });

  it("SEAL-24 takes the neighbours of what it refuses", () => {
    const taken = [
      '{"1":1,"2":2,"a":3}',
      '{"0":{"0":{"5":1},"1":{"4":1}},"1":[{"0":1},{"0":1}],"9":0,"10":0,"a":{"3":0},"b":1}',
      '[{"7":0},{"6":0},{"a":{"2":0}},{"b":0}]',
      '{"\\n":{"3":1},"é":{"2":1}}',
      '{"0":0,"4294967294":1,"4294967295":2,"00":3,"1x":4,"99999999999":5}',
      '[{"4294967294":1,"99999999999":2,"a":3},{"\\n":[1234567890123456,-7,0.5]}]',
      '{"4294967295":1,"a":2,"01":3,"-1":4,"1.5":5}',
      '{"a":1,"4294967295":2,"99999999999":3,"01":4,"00":5}',
      '"\\u0001\\u000b\\u000e\\u000f\\u0010\\u001a\\u001f"',
      '"\\b\\t\\n\\f\\r\\"\\\\"',
      "0",
      "-1",
      "123456789012345",
      "1234567890123456",
      "1e+21",
      "1.5e-7",
      "123456789012345680000",
      "-1.2345678901234568e-300",
      '{"$object":[["1",1],["2",2],["$a",3],["4294967295",4]]}',
      '{"$object":[["0",1],["1",2],["$a",3],["",4],["00",5]]}',
      '{"$set":[{},{},[],[]]}',
      '{"$map":[[[],1],[[],1]]}',
      '{"$set":[{"$date":"1970-01-01T00:00:00.000Z"},{"$date":"1970-01-01T00:00:00.000Z"}]}',
      '{"$set":[1,"1",{"$bigint":"1"},true,null]}',
      `"${"x".repeat(100)}\\"${"y".repeat(500)}\\n${"z".repeat(500)}"`,
      `["é","${"x".repeat(300)}"]`,
      '{"":{"":[]}}',
      '{"$buffer":"AA"}',
      '{"\\n":[0,7,12,345,908172635445362,-12,1e+21,0.25,true,null,"12",{"10":11}]}',
      `"${"€".repeat(16_382)}"`,
      `{"$bigint":"-${"9".repeat(600)}"}`,
      `{"$bigint16":"-${(10n ** 600n).toString(16)}"}`,
    ];
    for (const text of taken) expect(encode(decode(text))).toBe(text);
  });

  it("SEAL-23 reads a name with an escape right, whatever was parsed before", () => {
    const names = ["\\", '"', "\n", "\\n", "\nx", '\\"', '"\\', "\u001f", "a\\", 'a"'];
    for (let round = 0; round < 3; round++) {
      for (const name of names) {
        const value = { p: 1, q: null, [name]: [{ p: 1, [name]: 2 }, "\\", {}, []] };
        const text = encode(value);
        JSON.parse(text);
        expect(Object.keys(decode(text) as object)).toEqual(["p", "q", name]);
        expect(encode(decode(text))).toBe(text);
      }
    }
  });

  it("SEAL-24 refuses what is no JSON beside a name with an escape", () => {
    const start = '{"\\n":1';
    const texts = [
      start,
      `${start},`,
      `${start},}`,
      `${start}]`,
      `${start}}}`,
      `${start},"a"}`,
      `${start},"a":}`,
      `${start},a:1}`,
      `${start},"a":[}`,
      `${start},"a":[1,]}`,
      `${start},"a":[1}`,
      `${start},"a":[1,2`,
      `${start},"a":"b`,
      `${start},"a":tru}`,
      `${start},1}`,
      `${start}}1`,
      `[${start}}`,
      `${start} }`,
    ];
    for (const text of texts)
      expect([text, refusal(() => decode(text)).code]).toEqual([text, "seal-malformed"]);
    expect(refusal(() => decode('{"\\n":1,"\\n":2}')).found).toBe("a name given twice");
    expect(decode('{"\\n":{"a":[],"b":{}},"c":[true,null,-1.5,"\\""]}')).toEqual({
      "\n": { a: [], b: {} },
      c: [true, null, -1.5, '"'],
    });
  });

  it("SEAL-24 refuses what is not a text", () => {
    for (const value of [undefined, null, 1, {}, ["null"]]) {
      expect(refusal(() => decode(value as string)).code).toBe("seal-malformed");
    }
  });

  it("SEAL-24 names the place of a refusal after a name that is no JSON", () => {
    expect(refusal(() => decode('{"a\tb":1.0}')).path).toBe('["\\"a\\tb\\""]');
  });

  it("SEAL-24 keeps a long name out of its message", () => {
    const error = refusal(() => decode(`{"${"k".repeat(5000)}":{"$x":1}}`));
    expect(error.message.length).toBeLessThan(300);
    expect(
      refusal(() => decode(`{"$model":["${"k".repeat(5000)}",{}]}`)).message.length,
    ).toBeLessThan(300);
    expect(
      refusal(() => decode(`{"$codec":["${"k".repeat(5000)}",{}]}`)).message.length,
    ).toBeLessThan(300);
  });

  it("SEAL-24 doesn't repeat the text in a message about its grammar", () => {
    const error = refusal(() => decode('{"secret":hunter}'));
    expect(JSON.stringify([error.message, error])).not.toContain("hunter");
    expect(error.cause).toBeUndefined();
  });
});
