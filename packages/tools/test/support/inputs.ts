import { defineTool, inputOf, type Schema } from "../../src/index.ts";

/** A tool that takes such an input, and does nothing with it. */
export const tool = (input: Schema<unknown, unknown>, key?: (input: unknown) => unknown) =>
  defineTool({ name: "t", description: "", input, ...(key && { key }), execute: () => 1 });

/** The key that an input has where a tool takes it by this schema. */
export const keyOf = (schema: Schema<unknown, unknown>, value: unknown) =>
  inputOf(tool(schema), value).key();
