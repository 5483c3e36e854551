import {
  ApprovalAlreadyDecided,
  ApprovalError,
  type ApprovalErrorCode,
  ApprovalPending,
  StoreUnavailable,
} from "@holdpoint/approvals";
import {
  NotSealableError,
  SealDecodeError,
  SealError,
  type SealErrorCode,
  type SealErrorFields,
  SealTamperedError,
} from "@holdpoint/seal";

import type { ErrorInfo } from "./error-info.ts";

/** A class of a layer below, so that what its `is…Error` recognises live it recognises replayed. */
interface LayerClass {
  readonly name: string;
  readonly prototype: object;
  readonly build: (info: ErrorInfo) => Error;
}

/**
 * Their subclasses add no members of their own: an error of the base with another prototype is one
 * of theirs.
 */
function layer(
  classes: Readonly<Record<string, { readonly prototype: object }>>,
  base: (info: ErrorInfo) => Error,
): readonly LayerClass[] {
  return Object.entries(classes).map(([name, { prototype }]) => ({
    name,
    prototype,
    build(info) {
      const error = base(info);
      error.name = name;
      return Object.setPrototypeOf(error, prototype) as Error;
    },
  }));
}

export const layerClasses: readonly LayerClass[] = [
  ...layer({ SealError, NotSealableError, SealDecodeError, SealTamperedError }, (info) => {
    const { codecOrModel: name, ...fields } = info.attributes;
    return new SealError(info.code as SealErrorCode, info.message, {
      ...fields,
      name,
    } as SealErrorFields);
  }),
  // What stands is no attribute: it may hold edited arguments. Its error comes back without it.
  ...layer(
    { ApprovalError, ApprovalAlreadyDecided, ApprovalPending, StoreUnavailable },
    ({ code, message, attributes }) =>
      new ApprovalError(code as ApprovalErrorCode, message, attributes),
  ),
];
