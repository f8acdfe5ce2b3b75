import type { RequestContext } from '@twofold/runtime/kernel';
import type { TerminalSize } from '../engine/engine.ts';
import type { HostedApp } from '../records/app.ts';

/** A terminal that was asked for, and may be connected. */
export interface Terminal {
  readonly id: string;
  readonly app: HostedApp;
  readonly container: string;
  readonly replica: number;
  readonly command: readonly string[];
  readonly size: TerminalSize;
  readonly context: RequestContext;
  readonly ticket: Buffer;
  /** Milliseconds since 1970. */
  readonly expires: number;
}
