import type { Capability, Kernel } from '@twofold/runtime/kernel';
import type { HostingModel, RouteSpec } from '@twofold/schema';
import type { AuditLog } from './audit.ts';
import type { EventHub } from './events.ts';
import type { Handlers } from './routes/bind.ts';

/** What a part is made of. */
export interface HostedContext {
  readonly kernel: Kernel;
  readonly model: HostingModel;
  /** Every change has to be noted here. */
  readonly audit: AuditLog;
  /** What `GET /api/events` streams. */
  readonly events: EventHub;
}

/** A part while this process is the one that operates. */
export interface HostedWork {
  /** One for each of the part's routes. */
  readonly handlers: Handlers;
  start(): Promise<void>;
  /** Leaves everything as it is, for the next process that operates. */
  stop(): Promise<void>;
}

/**
 * A capability that works inside hosting, as language models do: its routes stand under the same guards, its changes in
 * the same audit log, and it runs in the one process that operates the apps.
 */
export interface HostedPart extends Capability {
  readonly hosted: {
    readonly routes: readonly RouteSpec[];
    createWork(given: HostedContext): HostedWork;
  };
}

/** Those of the capabilities that work inside hosting. */
export function hostedParts(all: readonly Capability[]): readonly HostedPart[] {
  return all.filter((capability): capability is HostedPart => 'hosted' in capability);
}
