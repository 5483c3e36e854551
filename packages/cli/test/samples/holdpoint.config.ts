import { unverified } from "@holdpoint/approvals";
import { defineConfig } from "@holdpoint/cli";
import { keyringOf } from "@holdpoint/seal";
import { editsOf } from "@holdpoint/tools";

import { pay, refund } from "./refund.ts";

export default defineConfig({
  store: "desk.db", // or postgres://desk@db.example/desk
  keyring: keyringOf(new Uint8Array(32).fill(7)), // yours comes from where you keep secrets
  definitions: [refund],
  edits: editsOf([pay]),
  identity: () => unverified("dana"), // or whom your identity port vouches for
});
