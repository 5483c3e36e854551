import type { Flow } from "@holdpoint/flow";
import type { Schema } from "@holdpoint/tools";

import { WorkflowError } from "../errors.ts";
import type { Workflow } from "./define.ts";
import type { RetryPolicy } from "./retry-policy.ts";
import type { DocumentLimits } from "./strict-json.ts";

/** The inside of a definition. */
export interface WorkflowFacts {
  readonly flow: Flow;
  readonly input: Schema;
  readonly resume: Schema | undefined;
  readonly output: Schema | undefined;
  readonly begin: (input: unknown) => unknown;
  readonly end: (state: unknown) => unknown;
  readonly summarize: ((state: unknown) => string) | undefined;
  readonly retry: RetryPolicy | undefined;
  readonly limits: DocumentLimits;
}

export const inside = Symbol.for("@holdpoint/workflows.definition");

/** The inside of a definition, of whichever copy of this package made it. @throws WorkflowError `definition-invalid` */
export function workflowFacts(definition: Workflow): WorkflowFacts {
  const facts = (definition as { readonly [inside]?: WorkflowFacts } | undefined)?.[inside];
  if (facts === undefined) throw invalid("this is no workflow: defineWorkflow makes them");
  return facts;
}

/** WF-04 */
export function takesNone(definition: string, version: string): WorkflowError {
  return new WorkflowError(
    "resume-not-taken",
    `'${definition}' has no resume schema: its runs take decisions, never a payload`,
    { definition, version },
  );
}

export function invalid(message: string): WorkflowError {
  return new WorkflowError("definition-invalid", message);
}
