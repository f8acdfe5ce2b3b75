import type { Socket as UdpSocket } from 'node:dgram';
import type { Server } from 'node:net';

/** An open port of an app. */
export interface StreamPort {
  /** What listens, to be sent to another process. */
  readonly handle: Server | UdpSocket;
  /** How many connections or clients of these targets there are; of all if there is no argument. */
  active(targetIds?: ReadonlySet<string>): number;
  /** Ends the connections and clients of these targets, or all. */
  cut(targetIds?: ReadonlySet<string>): void;
  /** Stops accepting. */
  release(): void;
}

/** Where a connection or client of a port goes. */
export interface StreamOptions {
  readonly host: string;
  readonly port: number;
  /** The targets of a client by its address: none when it must not connect, or nothing serves. */
  readonly targets: (address: string) => Promise<readonly StreamTarget[]>;
  /** Counts one more connection or client of the app, as `OpenResponses` does. */
  readonly enter: () => (() => void) | null;
  readonly inherited: Server | UdpSocket | undefined;
  readonly now: () => number;
}

/** The address of one container for one port. */
export interface StreamTarget {
  readonly id: string;
  readonly host: string;
  readonly port: number;
}
