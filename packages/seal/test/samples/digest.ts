import assert from "node:assert/strict";
import { canonicalize, digest, encode } from "@holdpoint/seal";

const one = { amount: 4200, tags: new Set(["vip", "late"]) };
const same = { tags: new Set(["late", "vip"]), amount: 4200 };

assert.notEqual(encode(one), encode(same)); // a sealed text keeps the order
assert.equal(canonicalize(one), '{"amount":4200,"tags":{"$set":["late","vip"]}}');
assert.equal(digest(one), digest(same)); // SHA-256 of the canonical form, 43 characters
assert.notEqual(digest({ amount: 4200 }), digest({ amount: 4200n }));
