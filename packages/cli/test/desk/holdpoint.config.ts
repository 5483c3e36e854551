import { unverified } from "@holdpoint/approvals";
import { keyringOf } from "@holdpoint/seal";
import { editsOf } from "@holdpoint/tools";

import { defineConfig } from "../../src/index.ts";
import { pay, refund } from "./refund.ts";

export default defineConfig({
  keyring: keyringOf(new Uint8Array(32).fill(7)),
  definitions: [refund],
  edits: editsOf([pay]),
  identity: () => unverified("dana"),
});
