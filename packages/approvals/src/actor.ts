/** A person or system as a record keeps it: who, and how sure the host was. */
export interface ActorRef {
  readonly id: string;
  /** `none`: somebody's word (`unverified`); `verified`: the host's identity port vouched. */
  readonly assurance: "none" | "verified";
  readonly roles?: readonly string[];
}
