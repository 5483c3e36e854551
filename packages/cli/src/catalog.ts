import type { Command } from "./command.ts";
import { auditVerify } from "./commands/audit-verify.ts";
import { approve, deny } from "./commands/approvals-decide.ts";
import { approvalsList } from "./commands/approvals-list.ts";
import { approvalsShow } from "./commands/approvals-show.ts";
import { checkpointShow, checkpointVerify } from "./commands/checkpoint.ts";
import { doctor } from "./commands/doctor.ts";
import { plan } from "./commands/plan.ts";
import { runsCancel } from "./commands/runs-cancel.ts";
import { runsDelete } from "./commands/runs-delete.ts";
import { runsExport, runsVerify } from "./commands/runs-export.ts";
import { runsHistory } from "./commands/runs-history.ts";
import { runsList } from "./commands/runs-list.ts";
import { runsRetry } from "./commands/runs-retry.ts";
import { runsShow } from "./commands/runs-show.ts";

/** Everything that can be asked for, in the order of the help. */
export const commands: readonly Command[] = [
  approvalsList,
  approvalsShow,
  approve,
  deny,
  runsList,
  runsShow,
  runsHistory,
  runsCancel,
  runsRetry,
  runsDelete,
  runsExport,
  runsVerify,
  plan,
  checkpointShow,
  checkpointVerify,
  auditVerify,
  doctor,
];
