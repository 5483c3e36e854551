import type { Segment } from "./path.ts";

/** A value of the text itself. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** What a row needs from the walk that writes. `depth` counts the brackets around a value. */
export interface Writer {
  /** Writes a part of the value; `at` names its place in a path. */
  part(value: unknown, depth: number, at: Segment): Json;
  /** Writes own data properties as an object, or as a list of pairs where a key asks for it. */
  fields(source: object, depth: number, wanted?: (key: string) => boolean): Json;
  /** Counts characters, values, and those of them that are brackets, before they are made. */
  spend(characters: number, nodes?: number, brackets?: number): void;
  /** Refuses a bracket that would be opened inside `depth` others, past the limit. */
  nest(depth: number): void;
  /** Refuses where own properties would be lost. */
  bare(value: object, what: string): void;
  refuse(found: string, advice: string, cause?: unknown): never;
}

/** What a row needs from the check of a text. */
export interface Checker {
  part(value: Json, at: string | number): void;
  list(value: Json, length?: number): Json[];
  text(value: Json): string;
  /** A key of a list of pairs: its string, whichever way it is spelled. */
  key(value: Json, at: number): string;
  refuse(reason: string): never;
  /** Refuses two map keys, or set members, that one `Map` could not hold apart. */
  distinct(values: readonly Json[]): void;
  /** Checks fields as {@link Writer.fields} writes them. */
  fields(value: Json, at: number): void;
  allowModel(name: string): void;
  allowCodec(name: string): void;
}

/** What a row needs from the building, which starts when the whole text has been checked. */
export interface Builder {
  part(value: Json, at: string | number): unknown;
  refuse(reason: string, cause?: unknown): never;
  model(name: string, fields: unknown): unknown;
  codec(name: string, standIn: unknown): unknown;
}

/** The one place where a type of value is known: its tag, its test, its two directions, its order. */
export interface Row {
  /** The key that marks the form in the text, `$` first. */
  readonly tag: string;
  /** Names of the built-in classes whose instances the row writes. */
  readonly classes?: readonly string[];
  /** The payload beside the tag; `depth` counts the brackets around it. */
  encode?(value: object, writer: Writer, depth: number): Json;
  /** Refuses every payload that {@link encode} would not write. */
  check(payload: Json, checker: Checker): void;
  build(payload: Json, builder: Builder): unknown;
  /** The canonical text of a payload whose order carries no meaning. */
  order?(payload: Json, print: (value: Json) => string): string;
}
