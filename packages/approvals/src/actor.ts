/**
 * People and systems that decide.
 *
 * A1 An `Actor` is made by `IdentityPort.authenticate` or by `unverified`, and by nothing else: a look-alike does not
 *    compile and is refused at run time (APR-15).
 * A2 Two copies of this package in one process accept each other's actors: the set of made ones is shared between them.
 * A3 This is no boundary against code in the same process, which could call the port itself. It keeps data (a request's
 *    body, a model's output, a run's state) from naming the person who decides.
 * A4 Nobody is made with the id of the library's own actor, `system`: an audit tells an expiry from a person's no.
 * A5 Roles are own members: what somebody put on `Object.prototype` gives nobody a role.
 */

import { ApprovalError } from "./errors.ts";
import { isStorableText, limits } from "./limits.ts";

/** A person or system as a record keeps it: who, and how sure the host was. */
export interface ActorRef {
  readonly id: string;
  /** `none`: somebody's word (`unverified`); `verified`: the host's identity port vouched. */
  readonly assurance: "none" | "verified";
  readonly roles?: readonly string[];
}

declare const made: unique symbol;

/** Somebody who may decide, as the host's identity port made them. Valid in this process only. */
export interface Actor extends ActorRef {
  readonly [made]: true;
}

/** What a host knows of the holder of a credential. */
export interface Identity {
  /** Stable and unique per person: votes are told apart by it. May not begin with `role:`, nor be `system`. */
  readonly id: string;
  /** An own member, not one of a prototype. */
  readonly roles?: readonly string[];
}

/** The host's way from a credential (a session, a token) to a person. */
export interface IdentityPort {
  /** @throws ApprovalError `actor-unknown` where the credential belongs to nobody, or the id is not usable. What the host's own code throws passes. */
  authenticate(credential: unknown): Promise<Actor>;
}

// A2
const registryName = Symbol.for("@holdpoint/approvals.actors");
const actors = sharedActors();

function sharedActors(): WeakSet<object> {
  const shared: unknown = Reflect.get(globalThis, registryName);
  if (shared instanceof WeakSet) return shared;
  const fresh = new WeakSet();
  Object.defineProperty(globalThis, registryName, { value: fresh });
  return fresh;
}

/**
 * Makes the identity port of a host from its own look-up, which answers `undefined` for a credential it does not know.
 */
export function identityPort(
  lookUp: (credential: unknown) => Identity | undefined | Promise<Identity | undefined>,
): IdentityPort {
  return {
    async authenticate(credential) {
      const identity = await lookUp(credential);
      if (identity === undefined || identity === null) {
        throw new ApprovalError("actor-unknown", "the credential belongs to nobody");
      }
      return makeActor(identity, "verified");
    },
  };
}

/**
 * An actor on somebody's word: of assurance `none`, enough only where a rule names no approvers, no quorum and excludes
 * nobody.
 *
 * @throws ApprovalError `actor-unknown` for an id that is empty, `system`, or begins with `role:`
 */
export function unverified(id: string): Actor {
  return makeActor({ id }, "none");
}

/** Whether a value is an actor that an identity port, or `unverified`, made in this process. */
export function isActor(value: unknown): value is Actor {
  return typeof value === "object" && value !== null && actors.has(value);
}

/** @throws ApprovalError `actor-not-authentic` */
export function assertActor(value: unknown): asserts value is Actor {
  if (isActor(value)) return;
  throw new ApprovalError("actor-not-authentic", "a decision names somebody no identity port made");
}

/** The plain data of an actor, for a record. */
export function actorRef(actor: ActorRef): ActorRef {
  const { id, assurance } = actor;
  const roles = rolesOf(actor);
  return roles === undefined ? { id, assurance } : { id, assurance, roles: [...roles] };
}

/** The roles of somebody, where they have any (A5). */
export function rolesOf(who: Pick<ActorRef, "roles">): readonly string[] | undefined {
  return Object.hasOwn(who, "roles") ? who.roles : undefined;
}

/** Who stands for the library itself: an expiry, a withdrawal. */
export const systemActor: ActorRef = Object.freeze({ id: "system", assurance: "none" });

function makeActor(identity: Identity, assurance: ActorRef["assurance"]): Actor {
  const { id } = identity;
  const roles = rolesOf(identity);
  if (!isPersonName(id) || id.startsWith("role:")) {
    throw new ApprovalError("actor-unknown", "the identity has no usable id");
  }
  if (id === systemActor.id) {
    // A4
    throw new ApprovalError("actor-unknown", "the id 'system' stands for the library itself");
  }
  if (roles !== undefined && !isRoleList(roles)) {
    throw new ApprovalError("actor-unknown", `the identity ${id} has no usable roles`);
  }
  const ref = actorRef({ id, assurance, ...(roles === undefined ? {} : { roles }) });
  if (ref.roles !== undefined) Object.freeze(ref.roles);
  const actor = Object.freeze(ref) as Actor;
  actors.add(actor);
  return actor;
}

function isPersonName(value: unknown): value is string {
  return (
    typeof value === "string" &&
    value.length > 0 &&
    value.length <= limits.idCharactersMax &&
    isStorableText(value)
  );
}

function isRoleList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.length <= limits.approversMax && value.every(isPersonName);
}
