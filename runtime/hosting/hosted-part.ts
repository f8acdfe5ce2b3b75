import type { Capability, Kernel, Migration, ServerModule } from '@twofold/runtime/kernel';
import type { Flow } from '@twofold/runtime/http';
import type { HostingModel } from '@twofold/schema';
import type { EventHub } from './host/events.ts';

type Middleware = NonNullable<ServerModule['before']>[number];

/** What a part receives when it is created. */
export interface HostedContext {
  readonly kernel: Kernel;
  readonly model: HostingModel;
  /** The source of `GET /api/events`. */
  readonly events: EventHub;
}

/** The work of a part while this process is the leader. */
export interface HostedWork {
  /** What the part's flows use. */
  readonly state: unknown;
  start(): Promise<void>;
  /** Ends the work. Containers and records stay as they are, for the next leader. */
  stop(): Promise<void>;
}

/**
 * A capability that works inside hosting, as language models do. Its routes have the same guards,
 * its changes are in the same audit log, and it runs only in the leader: the one process that
 * operates the apps.
 */
export interface HostedPart extends Capability {
  readonly flows: readonly Flow<unknown>[];
  readonly hosted: {
    /** Tables of its own. */
    readonly migrations?: readonly Migration[];
    /** Middleware of every process that runs before authentication, for keys of its own. */
    before?(kernel: Kernel): readonly Middleware[];
    createWork(given: HostedContext): HostedWork;
  };
}

/** The capabilities that work inside hosting. */
export function hostedParts(all: readonly Capability[]): readonly HostedPart[] {
  return all.filter((capability): capability is HostedPart => 'hosted' in capability);
}
