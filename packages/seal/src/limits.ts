/**
 * Bounds of the codec. Each may be set per sealer; what one sealer writes within its bounds, a
 * sealer with the same bounds can read, for writer and reader count the same things in the text.
 */
export interface Limits {
  /** Nesting of brackets in the text. From 1 to {@link DEPTH_CEILING}. */
  readonly depth: number;
  /** JSON values in the text: each scalar, list and object, tags included. */
  readonly nodes: number;
  /** Lists and objects in the text, those of tags included: each takes several times a scalar's memory. */
  readonly brackets: number;
  /** UTF-8 bytes of the text. */
  readonly bytes: number;
  /** UTF-8 bytes from which `onLarge` is told. */
  readonly warnBytes: number;
}

/** Real states nest a dozen levels; 256 leaves room and keeps every recursion far from the stack's end. */
const DEPTH_DEFAULT = 256;
/** Plain recursion dies near 3,000 frames in some engines, the native writer near 4,000. */
export const DEPTH_CEILING = 1000;
/** Bounds memory and time of a hostile or runaway value: a million values are read in about 0.2 s. */
const NODES_DEFAULT = 1_000_000;
/** A `Set` of so many objects takes 45 MB. Real states, at 16 MiB, have a fifth of a million. */
const BRACKETS_DEFAULT = 250_000;
/** What a database row and a request can carry without special care. */
export const BYTES_DEFAULT = 16 * 1024 * 1024;
/** A state past this is usually a list that grows by accident. */
const WARN_BYTES_DEFAULT = 1024 * 1024;
/** An envelope may double its body (every quote escaped) and carries a header beside it. */
export const ENVELOPE_FACTOR = 2;
export const ENVELOPE_EXTRA_BYTES = 64 * 1024;
/** Members of an envelope's header: it identifies a text, it doesn't hold data. */
export const HEADER_MEMBERS_MAX = 32;
/** Characters of one header string. */
export const HEADER_TEXT_MAX = 1024;

/** Decimal digits up to which a bigint is written in decimal: conversion is quadratic, and nobody reads more. */
export const BIGINT_DECIMAL_DIGITS = 600;
/** Hexadecimal digits past which a bigint is refused (4 Mi bits). */
export const BIGINT_HEX_DIGITS = 1024 * 1024;

/** Characters of one path segment and of a whole path in a message. */
export const PATH_SEGMENT_CHARS = 64;
export const PATH_SEGMENTS_SHOWN = 32;

/** Bytes of key below which guessing is cheaper than breaking. */
export const KEY_BYTES_MIN = 16;
/** Derived keys kept per key: purposes are few and fixed in code; a flood of them is a bug. */
export const DERIVED_KEYS_MAX = 64;

export const DEFAULT_LIMITS: Limits = Object.freeze({
  depth: DEPTH_DEFAULT,
  nodes: NODES_DEFAULT,
  brackets: BRACKETS_DEFAULT,
  bytes: BYTES_DEFAULT,
  warnBytes: WARN_BYTES_DEFAULT,
});
