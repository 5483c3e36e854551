import {
  ApprovalAlreadyDecided,
  ApprovalError,
  ApprovalPending,
  isApprovalError,
  StoreUnavailable,
} from "@holdpoint/approvals";
import { decode, encode, isSealError, SealError, SealTamperedError } from "@holdpoint/seal";
import { describe, expect, it } from "vitest";
import { z } from "zod";

import {
  defineTool,
  type ErrorInfo,
  errorInfo,
  Executor,
  isToolError,
  rebuildError,
  registerErrorClass,
  ToolArgumentsError,
  ToolCancelledError,
  ToolDefinitionError,
  ToolDeniedError,
  ToolDispatchError,
  ToolError,
  type ToolErrorInit,
  ToolFailedError,
  ToolGuardError,
  ToolOutputError,
  ToolTimedOutError,
} from "../src/index.ts";
import { decision } from "./support/ports.ts";

class CardDeclined extends ToolError {
  static override readonly errorName: string = "CardDeclined";
  get bank() {
    return this.attributes["bank"];
  }
}
registerErrorClass("CardDeclined", CardDeclined);

class QuotaError extends Error {
  readonly left: number;
  constructor(left: number) {
    super(`${left} left`);
    this.left = left;
  }
}
registerErrorClass(
  "QuotaError",
  QuotaError,
  ({ attributes }) => new QuotaError(Number(attributes["left"])),
);

const classes = [
  ToolError,
  ToolArgumentsError,
  ToolDeniedError,
  ToolGuardError,
  ToolDispatchError,
  ToolTimedOutError,
  ToolCancelledError,
  ToolFailedError,
  ToolOutputError,
  ToolDefinitionError,
  CardDeclined,
];

const platform = [Error, TypeError, RangeError, SyntaxError, ReferenceError, URIError, EvalError];

describe("a failure as data", () => {
  it.each(classes.map((of) => [of.errorName, of] as const))(
    "TOOL-04 FLOW-32 rebuilds %s: class, message, code, attributes, whether to retry",
    (_, of) => {
      const init: ToolErrorInit = {
        code: "guard-refused",
        attributes: { bank: "b", at: new Date(5) },
        retryable: true,
      };
      const first = new of("declined", init);
      const info = errorInfo(first);
      const again = rebuildError(info);
      expect(Object.getPrototypeOf(again)).toBe(of.prototype);
      expect(again).toMatchObject({ name: of.errorName, message: "declined", ...init });
      expect(errorInfo(again)).toEqual(info);
      expect(isToolError(again, "guard-refused")).toBe(true);
      expect(isToolError(again, "failed")).toBe(false);
    },
  );

  it.each(platform.map((of) => [of.name, of] as const))(
    "TOOL-04 FLOW-32 rebuilds the platform's %s with its members",
    (_, of) => {
      const first = Object.assign(new of("no"), {
        code: "ECONNRESET",
        errno: -104,
        retryable: true,
      });
      const again = rebuildError(errorInfo(first));
      expect(Object.getPrototypeOf(again)).toBe(of.prototype);
      expect(again).toMatchObject({
        message: "no",
        code: "ECONNRESET",
        errno: -104,
        retryable: true,
      });
      expect(errorInfo(again)).toEqual(errorInfo(first));
      expect(errorInfo(first).code).toBe("failed");
      expect(errorInfo(first).attributes).toEqual({ code: "ECONNRESET", errno: -104 });
      // They are members like any others: a caller may change and delete them.
      Object.assign(again, { code: "other", name: "Mine" });
      expect(again).toMatchObject({ code: "other", name: "Mine" });
      expect(Reflect.deleteProperty(again, "errno")).toBe(true);
      expect(Object.keys(again)).not.toContain("message");
      expect(rebuildError(errorInfo(new of("no")))).not.toHaveProperty("retryable");
    },
  );

  it("TOOL-04 rebuilds a caller's class with a constructor of its own", () => {
    const again = rebuildError(errorInfo(new QuotaError(3)));
    expect(again).toBeInstanceOf(QuotaError);
    expect(again).toMatchObject({ left: 3, message: "3 left" });
  });

  it("TOOL-04 keeps the name and the members of a class that nobody registered, as a ToolFailedError", () => {
    class HttpError extends Error {
      override readonly name = "HttpError";
      readonly status = 503;
      readonly code = "EHTTP";
    }
    const again = rebuildError(errorInfo(new HttpError("busy")));
    expect(again).toBeInstanceOf(ToolFailedError);
    expect(again).toMatchObject({ name: "HttpError", status: 503, code: "EHTTP", message: "busy" });
    expect(Object.keys(again)).not.toContain("name");
    expect(errorInfo(new HttpError("busy")).attributes).toEqual({ status: 503, code: "EHTTP" });
    class Unnamed extends TypeError {}
    expect(errorInfo(new Unnamed("x")).name).toBe("Unnamed");
  });

  it("TOOL-04 takes an unregistered subclass for its parent, unless it has a name of its own", () => {
    class Derived extends CardDeclined {}
    expect(rebuildError(errorInfo(new Derived("x")))).toBeInstanceOf(CardDeclined);
    class Named extends CardDeclined {
      static override readonly errorName = "Named";
    }
    expect(errorInfo(new Named("x")).name).toBe("Named");
    expect(rebuildError(errorInfo(new Named("x")))).toBeInstanceOf(ToolFailedError);
  });

  it("TOOL-04 FLOW-32 rebuilds the errors of the layers below, as their own recognisers know them", () => {
    const thrown = (run: () => unknown): unknown => {
      try {
        return run();
      } catch (error) {
        return error;
      }
    };
    const sealErrors = [
      thrown(() => encode({ a: [() => 1] })),
      thrown(() => decode("[")),
      new SealTamperedError("k1"),
    ];
    for (const first of sealErrors as SealError[]) {
      const again = rebuildError(errorInfo(first));
      expect(isSealError(again, first.code)).toBe(true);
      expect(Object.getPrototypeOf(again)).toBe(Object.getPrototypeOf(first));
      expect(again).toMatchObject({
        message: first.message,
        name: first.name,
        path: first.path,
        keyId: first.keyId,
      });
      expect(errorInfo(again)).toEqual(errorInfo(first));
    }
    const codec = rebuildError(
      errorInfo(new SealError("option-invalid", "m", { name: "money", limit: 5 })),
    );
    expect(codec).toMatchObject({ codecOrModel: "money", limit: 5, name: "SealError" });
    const decided = decision();
    const approvalErrors = [
      new StoreUnavailable("away", new Error("socket")),
      new ApprovalPending("a1", "r1"),
      new ApprovalAlreadyDecided("a1", decided),
      new ApprovalError("record-tampered", "m", { approvalId: "a1" }),
    ];
    for (const first of approvalErrors) {
      const again = rebuildError(errorInfo(first));
      expect(isApprovalError(again, first.code)).toBe(true);
      expect(Object.getPrototypeOf(again)).toBe(Object.getPrototypeOf(first));
      expect(again).toMatchObject({
        message: first.message,
        name: first.name,
        approvalId: first.approvalId,
      });
      expect(errorInfo(again)).toEqual(errorInfo(first));
      expect("cause" in again).toBe(false);
    }
  });

  it("TOOL-04 knows an error of another copy of this package by its mark", () => {
    class ToolTimedOut extends Error {}
    const other = Object.assign(new ToolTimedOut("no"), {
      code: "timed-out",
      attributes: { tool: "t" },
    });
    Object.defineProperty(other, Symbol.for("@holdpoint/tools.error"), { value: true });
    Object.defineProperty(other, "name", { value: "ToolTimedOutError" });
    expect(isToolError(other, "timed-out")).toBe(true);
    expect(rebuildError(errorInfo(other))).toBeInstanceOf(ToolTimedOutError);
    expect(errorInfo(other).attributes).toEqual({ tool: "t" });
    expect(errorInfo(Object.assign(other, { attributes: 5 })).attributes).toEqual({});
  });

  it("TOOL-04 leaves out and names the attributes that can't be sealed", () => {
    const attributes = {
      fine: { deep: [1n] },
      call: () => 1,
      long: "x".repeat(20_000),
      wide: Array.from({ length: 5000 }, (_, at) => at),
      get read() {
        return 1;
      },
    };
    const error = new ToolError("m");
    Object.defineProperty(error, "attributes", { value: attributes });
    expect(errorInfo(error)).toMatchObject({
      attributes: { fine: { deep: [1n] } },
      omitted: ["call", "long", "wide", "read"],
    });
    expect(Object.keys(errorInfo(error).attributes)).toEqual(["fine"]);
    const own = JSON.parse('{"__proto__": 1}') as object;
    expect(errorInfo(own)).toMatchObject({ attributes: {}, omitted: ["__proto__"] });
  });

  it("TOOL-04 isolates attributes from what the thrower does to them later", () => {
    const details = { list: [1] };
    const info = errorInfo(new ToolError("m", { attributes: { details } }));
    details.list.push(2);
    expect(info.attributes).toEqual({ details: { list: [1] } });
  });
});

/** Object.keys asks once for each key; what asks again is refused. */
function flaky(): () => PropertyDescriptor {
  let asked = 0;
  return () => {
    if (++asked % 2 === 0) throw new Error("no");
    return { value: 1, enumerable: true, configurable: true };
  };
}

const revoked = Proxy.revocable({}, {});
revoked.revoke();
const hostile: readonly [string, unknown, Partial<ErrorInfo>][] = [
  ["a string", "just text", { name: "ToolFailedError", message: "just text" }],
  ["an empty string", "", { message: "an empty text was thrown" }],
  ["an error without a message", new Error(""), { message: "an Error without a message" }],
  ["one of blanks", new TypeError(" \n"), { message: "a TypeError without a message" }],
  ["undefined", undefined, { message: "undefined was thrown" }],
  ["null", null, { message: "null was thrown" }],
  ["a symbol", Symbol("s"), { message: "Symbol(s) was thrown" }],
  ["a bigint", 5n, { message: "5 was thrown" }],
  ["a function", () => 1, { message: "a function was thrown" }],
  ["a plain object", { a: 1 }, { name: "ToolFailedError", attributes: { a: 1 } }],
  ["a frozen error", Object.freeze(new Error("cold")), { name: "Error", message: "cold" }],
  ["a frozen object", Object.freeze({ message: "cold" }), { message: "cold" }],
  [
    "an object without prototype",
    Object.assign(Object.create(null), { a: 1 }),
    { attributes: { a: 1 } },
  ],
  [
    "a proxy whose properties can't be described",
    new Proxy(
      { a: 1 },
      {
        ownKeys: () => ["a"],
        getOwnPropertyDescriptor: flaky(),
      },
    ),
    { attributes: {}, omitted: ["a"] },
  ],
  ["a revoked proxy", revoked.proxy, { message: "an object was thrown" }],
  [
    "throwing getters",
    {
      get name(): string {
        throw new Error("n");
      },
      get message(): string {
        throw new Error("m");
      },
      get code(): string {
        throw new Error("c");
      },
    },
    { name: "ToolFailedError", message: "an object was thrown", code: "failed" },
  ],
  [
    "members of the wrong kinds",
    { name: 5, message: 6, code: 7, retryable: "yes" },
    { retryable: false },
  ],
];

describe("anything thrown", () => {
  it.each(hostile)("R124 TOOL-04 becomes a bounded failure: %s", async (_, thrown, expected) => {
    const tool = defineTool({
      name: "t",
      description: "",
      input: z.any(),
      execute: () => {
        throw thrown;
      },
    });
    const result = await new Executor().tryCall(tool, 1);
    if (result.ok) throw new Error("it succeeded");
    expect(result.error).toMatchObject(expected);
    expect(result.error).toEqual(errorInfo(thrown));
    expect(structuredClone(result.error)).toEqual(result.error);
    expect(encode(result.error).length).toBeLessThan(1000);
    await expect(new Executor().call(tool, 1)).rejects.toMatchObject({
      message: result.error.message,
    });
  });

  it("R124 TOOL-04 cuts ten megabytes of message, names and members down", () => {
    const text = "x".repeat(10_000_000);
    const error = Object.assign(new Error(text), { [text]: 1, text, code: text });
    error.name = text;
    Object.assign(
      error,
      Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`m${at}`, at])),
    );
    const started = process.cpuUsage();
    const info = errorInfo(error);
    expect(encode(info).length).toBeLessThan(30_000);
    expect(info.message).toMatch(/^x{4096}… \(10000000 characters\)$/);
    expect(info.omitted?.length).toBeLessThanOrEqual(32);
    const longest = "y".repeat(4096);
    expect(errorInfo(longest).message).toBe(longest);
    const fits = { n: "z".repeat(16_382), ["m".repeat(128)]: 1 };
    expect(errorInfo(fits)).toMatchObject({ attributes: fits });
    expect(errorInfo({ n: "z".repeat(16_383) }).omitted).toEqual(["n"]);
    expect(errorInfo({ ["m".repeat(129)]: 1 }).omitted).toEqual(["m".repeat(128)]);
    const { user, system } = process.cpuUsage(started); // its own work, however busy the machine is
    expect((user + system) / 1000).toBeLessThan(1000);
  });
});

describe("registering a class", () => {
  it("TOOL-04 has a code, no attributes and no retry unless it is told", () => {
    const cause = new Error("inner");
    expect(new ToolError("m")).toMatchObject({ code: "failed", attributes: {}, retryable: false });
    expect("cause" in new ToolError("m")).toBe(false);
    expect(new ToolError("m", { cause }).cause).toBe(cause);
  });

  it("TOOL-04 refuses a name that another class has, and takes the same one again", () => {
    class Other extends ToolError {}
    expect(() => registerErrorClass("CardDeclined", Other)).toThrow(
      expect.toSatisfy((e) => isToolError(e, "definition-invalid")),
    );
    expect(() => registerErrorClass("", Other)).toThrow(ToolDefinitionError);
    expect(() => registerErrorClass("CardDeclined", CardDeclined)).not.toThrow();
  });

  it("TOOL-04 knows no error in what is none, and survives what throws", () => {
    for (const value of [undefined, null, "x", 5, {}, new Error("x"), revoked.proxy]) {
      expect(isToolError(value)).toBe(false);
    }
  });
});
