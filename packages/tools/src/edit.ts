import type { ApprovalRule, Edited, EditPort, EditVerdict } from "@holdpoint/approvals";
import { editedArguments } from "@holdpoint/approvals";

import { gateOf } from "./confirm.ts";
import type { CallContext } from "./context.ts";
import type { AnyTool, ToolInput } from "./tool.ts";
import { recordOf } from "./tool-record.ts";

/** Arguments that a person puts in place of those asked for; a wrong edit does not compile. */
export function edited<T extends AnyTool>(tool: T, args: ToolInput<T>): Edited {
  return editedArguments(recordOf(tool).name, args);
}

/**
 * What became of an edit: `arguments` are what would run, `rule` is what the tool's own rule asks
 * for them (absent: nobody). Without effects, and safe to repeat, but for what a schema draws anew.
 */
export async function validateEdited(
  tool: AnyTool,
  args: unknown,
  context: CallContext,
): Promise<EditVerdict> {
  const record = recordOf(tool);
  const validated = await record.validateInput(args);
  if (!validated.ok) {
    const issues = validated.issues.map(({ path, message }) =>
      path ? `${path}: ${message}` : message,
    );
    return { status: "invalid", issues };
  }
  const gate = gateOf(record.confirm, validated.value, context);
  if (gate.kind === "forbidden") {
    return {
      status: "invalid",
      issues: [`the rule of '${record.name}' forbids it: ${gate.reason}`],
    };
  }
  const rule: { rule?: ApprovalRule } = gate.kind === "gated" ? { rule: gate.rule } : {};
  return { status: "valid", arguments: validated.value, ...rule };
}

/**
 * The edit port of these tools, for approvals that are decided away from the executor (APR-03,
 * APR-16). An edit for a tool that is not among them is invalid.
 */
export function editsOf(tools: readonly AnyTool[]): EditPort {
  const byName = new Map(tools.map((tool) => [recordOf(tool).name, tool]));
  return {
    validate({ request, arguments: args }) {
      const tool = byName.get(request.tool);
      if (tool === undefined) {
        return { status: "invalid", issues: [`there is no tool '${request.tool}' here`] };
      }
      return validateEdited(tool, args, new RequestContext(request));
    },
  };
}

/**
 * The context of a call that is not under way: `confirm` may look at its ids; its key is not known
 * here.
 */
class RequestContext implements CallContext {
  readonly runId: string;
  readonly node: string;
  readonly callId: string;
  readonly idempotencyKey: string;
  readonly signal: AbortSignal = new AbortController().signal;

  constructor(request: { readonly runId: string; readonly node: string; readonly callId: string }) {
    this.runId = request.runId;
    this.node = request.node;
    this.callId = request.callId;
    this.idempotencyKey = request.callId;
  }
}
