import { isWorkflowError } from "@holdpoint/workflows";

import { refund } from "./first-run.ts";

/** What a request's body is, or why it is none: paths and sentences, for whoever sent it. */
export async function read(body: string) {
  try {
    const { document } = await refund.validateInput(body);
    return { status: 200, orderId: document.orderId };
  } catch (error) {
    if (!isWorkflowError(error, "input-invalid")) throw error;
    return { status: 400, issues: error.issues };
  }
}

// For a form, or for a tool of a model.
export const schema = refund.inputJsonSchema();
