import type { EngineEvent, EngineKind } from '../engine.ts';
import type { BuildOptions } from '../images.ts';
import type { LogDialect } from '../logs/log-source.ts';
import type { NetworkDialect } from './owned.ts';

/** What is added to one build. */
export interface PreparedBuild {
  /** Query parameters. */
  readonly query: Readonly<Record<string, unknown>>;
  /** Files of the context. */
  readonly files: Readonly<Record<string, string>>;
  /** Is called when the build has ended, in whichever way. */
  end(): Promise<void>;
}

/** The differences between engines that speak Docker's API. All other code is shared. */
export interface Dialect extends LogDialect, NetworkDialect {
  readonly kind: EngineKind;
  /** Whose builder it has. */
  readonly builder: 'docker' | 'podman';
  /** What a build needs besides the options that all builders know. */
  prepareBuild(options: BuildOptions): Promise<PreparedBuild>;
  readonly eventActions: Readonly<Record<string, EngineEvent['action']>>;
  readonly reportsStops: boolean;
  readonly pruneBuilds: boolean;
  /** How much of a container's output the engine keeps. */
  readonly logFiles: Readonly<Record<string, string>>;
  /** Whether an archive of a container's folder has the owners of its files. */
  readonly readsOwners: boolean;
  /**
   * How an archive is written into a volume at `/volume`: Docker sets the owner of the volume's own
   * folder only from its parent, and Podman does not find the volume from there.
   */
  readonly volumeWrites: { readonly into: string; readonly prefix: string };
  /** Whether the engine gives a new volume to the user of the first container that has it. */
  readonly givesVolumes: boolean;
  /** Options of a volume whose owner is set by what is written into it. */
  readonly filledVolume: Readonly<Record<string, string>>;
}
